// typescript_sdk.mjs SDK: an agent on the TypeScript SDK in the folder SDK. It repeats the texts of its prompt, asks for
// permission when it is told to, and keeps no sessions.

import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const { agent, methods, ndJsonStream, PROTOCOL_VERSION } = await import(
  pathToFileURL(join(process.argv[2], "dist/v1/stable/acp.js")).href
);

const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];

agent({ name: "echo" })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: crypto.randomUUID() }))
  .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    for (const block of prompt) {
      let words = block.text;
      if (words === "ask") {
        const toolCall = { toolCallId: "1", title: "what it was told" };
        const { outcome } = await client.request(methods.client.session.requestPermission, { sessionId, toolCall, options });
        words = JSON.stringify(outcome);
      }
      const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } };
      await client.notify(methods.client.session.update, { sessionId, update });
    }
    return { stopReason: "end_turn" };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
