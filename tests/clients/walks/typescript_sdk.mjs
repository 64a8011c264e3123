// typescript_sdk.mjs SDK AGENT CWD: walks through the agent with the TypeScript SDK in the folder SDK.
//
// A request's promise can resolve before the handlers of notifications that came earlier on the wire have run, so the
// walk waits for what it counts. Prints one JSON object a case, {"case", "trouble"}, and at last {"done": cases}.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const [sdk, agentCommand, cwd] = process.argv.slice(2);
const { RequestError, client, methods, ndJsonStream, PROTOCOL_VERSION } = await import(
  pathToFileURL(join(sdk, "dist/v1/stable/acp.js")).href
);

let cases = 0;
const print = (object) => process.stdout.write(`${JSON.stringify(object)}\n`);
const text = (words) => ({ type: "text", text: words });

async function run(name, check) {
  cases += 1;
  let trouble = null;
  try {
    await check();
  } catch (error) {
    trouble = String(error?.stack ?? error);
  }
  print({ case: name, trouble });
}

function check(condition, what) {
  if (!condition) throw new Error(typeof what === "string" ? what : JSON.stringify(what));
}

async function until(condition, what) {
  for (let tries = 0; tries < 1000; tries += 1) {
    if (condition()) return;
    await pause(10);
  }
  throw new Error(`waited in vain for ${what}`);
}

async function refused(code, promise) {
  let answer;
  try {
    answer = await promise;
  } catch (error) {
    check(error instanceof RequestError && error.code === code, `${error.code} ${error.message}, wanted ${code}`);
    return error;
  }
  throw new Error(`accepted: ${JSON.stringify(answer)}`);
}

/** Starts the agent, shakes hands, calls `work`, and expects a clean end. */
async function connected(work) {
  const child = spawn(agentCommand, [], { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
  const updates = [];
  const app = client({ name: "typescript-walk" }).onNotification(methods.client.session.update, (context) => {
    updates.push(context.params);
  });
  const heard = (session, kind) =>
    updates
      .filter((u) => u.sessionId === session && u.update.sessionUpdate === kind)
      .map((u) => ({ id: u.update.messageId, text: u.update.content?.text }));
  await app.connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
    const hello = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
      clientInfo: { name: "typescript-walk", version: "0" },
    });
    await work({ agent, hello, updates, heard, said: (session) => heard(session, "agent_message_chunk") });
  });
  child.stdin.end();
  const code = await ended;
  check(code === 0, `the agent ended with ${code}`);
}

const { session: s } = methods.agent;
let session;
let lived;

await connected(async ({ agent, hello, updates, said }) => {
  const prompt = (...words) => agent.request(s.prompt, { sessionId: session, prompt: words.map((w) => (typeof w === "string" ? text(w) : w)) });

  await run("initialize", async () => {
    check(hello.protocolVersion === 1 && hello.agentCapabilities.loadSession, hello);
    for (const name of ["list", "resume", "close", "delete"]) check(hello.agentCapabilities.sessionCapabilities[name], name);
    check(hello.authMethods.length === 1 && hello.agentInfo.name, hello);
  });

  await run("authenticate", async () => {
    await agent.request(methods.agent.authenticate, { methodId: hello.authMethods[0].id });
    await refused(-32602, agent.request(methods.agent.authenticate, { methodId: "no-such-method" }));
  });

  session = (await agent.request(s.new, { cwd, mcpServers: [] })).sessionId;
  await run("new", async () => {
    check((await agent.request(s.new, { cwd, mcpServers: [] })).sessionId !== session, "two sessions");
    await refused(-32602, agent.request(s.new, { cwd: "relative", mcpServers: [] }));
  });

  await run("commands-are-announced", async () => {
    const commands = () => updates.filter((u) => u.sessionId === session && u.update.sessionUpdate === "available_commands_update");
    await until(() => commands().length >= 2, "two updates");
    check(commands()[0].update.availableCommands.some((c) => c.name === "store"), commands()[0]);
  });

  await run("prompt-stores-and-recalls", async () => {
    const { stopReason } = await prompt("/store --type Decision We ship Postgres for V1");
    check(stopReason === "end_turn", stopReason);
    await until(() => said(session).length === 1, "one message");
    const id = said(session)[0].text.replace("stored ", "");
    await prompt("we ship Postgres for V1");
    await until(() => said(session).length === 2, "two messages");
    check(said(session)[1].text.startsWith(`${id} distance=`), said(session));
  });

  await run("prompt-takes-a-resource-link", async () => {
    const { stopReason } = await prompt("/recall --k 1 what is in", { type: "resource_link", name: "plan.md", uri: "file:///plan.md" });
    check(stopReason === "end_turn", stopReason);
  });

  await run("prompt-refuses-image-audio-and-resource", async () => {
    for (const block of [
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///a.txt", text: "a" } },
    ]) {
      await refused(-32602, prompt("/store zanzibar cloves", block));
    }
    const before = said(session).length;
    await prompt("/recall --k 1 zanzibar cloves");
    await until(() => said(session).length > before, "an answer");
    check(!said(session).at(-1).text.includes("zanzibar"), said(session).at(-1));
  });

  await run("empty-prompts-are-refused", async () => {
    await refused(-32602, prompt());
    await refused(-32602, prompt(" "));
  });

  await run("cancel-in-flight-and-idle", async () => {
    for (let n = 0; n < 5; n += 1) {
      const running = prompt(`/store cancelled ${n}`);
      await agent.notify(s.cancel, { sessionId: session });
      const { stopReason } = await running;
      check(["cancelled", "end_turn"].includes(stopReason), stopReason);
    }
    await agent.notify(s.cancel, { sessionId: session });
    check((await prompt("/help")).stopReason === "end_turn", "the next prompt");
  });

  await run("list", async () => {
    const { sessions } = await agent.request(s.list, { cwd });
    const row = sessions.find((candidate) => candidate.sessionId === session);
    check(row?.title.startsWith("/store --type Decision") && !Number.isNaN(Date.parse(row.updatedAt)), sessions);
    await refused(-32602, agent.request(s.list, { cursor: "not a cursor" }));
  });

  await run("unknown-sessions-are-not-found", async () => {
    const error = await refused(-32002, agent.request(s.prompt, { sessionId: "nobody", prompt: [text("hello")] }));
    check(error.data?.sessionId === "nobody", error.data);
    await refused(-32002, agent.request(s.load, { sessionId: "nobody", cwd, mcpServers: [] }));
    await refused(-32002, agent.request(s.resume, { sessionId: "nobody", cwd }));
    // Not close: this SDK turns its -32002 into a success.
  });

  await run("close", async () => {
    await agent.request(s.close, { sessionId: session });
    await refused(-32002, prompt("/help"));
  });
  lived = said(session);
});

await connected(async ({ agent, heard, said }) => {
  await run("load-replays-in-order-with-the-same-message-ids", async () => {
    await agent.request(s.load, { sessionId: session, cwd, mcpServers: [] });
    await until(() => said(session).length >= lived.length, "the replay");
    check(JSON.stringify(said(session)) === JSON.stringify(lived), said(session));
    check(heard(session, "user_message_chunk")[0].text.startsWith("/store --type Decision"), "the first prompt");
  });
});

await connected(async ({ agent, updates, said }) => {
  await run("resume-replays-nothing", async () => {
    await agent.request(s.resume, { sessionId: session, cwd });
    await agent.request(s.prompt, { sessionId: session, prompt: [text("/recall --k 1 we ship Postgres for V1")] });
    await until(() => said(session).length > 0, "an answer");
    check(said(session).length === 1 && said(session)[0].text.includes("Postgres"), updates);
  });

  await run("delete", async () => {
    await agent.request(s.delete, { sessionId: session });
    await agent.request(s.delete, { sessionId: session });
    const { sessions } = await agent.request(s.list, {});
    check(!sessions.some((row) => row.sessionId === session), sessions);
    await refused(-32002, agent.request(s.load, { sessionId: session, cwd, mcpServers: [] }));
  });
});

print({ done: cases });
