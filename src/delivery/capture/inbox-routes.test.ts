import { describe, expect, test } from "vitest";
import { composeMessage, type MessageContent } from "#mail/message/compose-message.ts";
import { renderMessage } from "#mail/message/encode-header.ts";
import { encodeBase64 } from "#mail/message/transfer-encoding.ts";
import { newId } from "#platform/ids.ts";
import { startService } from "#test/support/service.ts";
import { insertCaptured, removeOldCaptured } from "./store.ts";

const TOKEN = "the-token-of-the-inbox-test";
const inbox = await startService({ env: { INBOX_TOKEN: TOKEN } });
const direct = await startService({ env: { MAIL_MODE: "direct" } });

const pixel = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

const ordinary: MessageContent = {
  messageId: "1@shop.test",
  date: new Date("2026-03-01T12:00:00Z"),
  from: { name: "The Shöp", address: "orders@shop.test" },
  to: { name: null, address: "ada@example.test" },
  subject: "Your order",
  html: '<p>Hello <a href="https://shop.test/1">order</a><img src="cid:logo"></p>',
  text: "Hello order",
  attachments: [
    {
      filename: 'in"voice<b>.html',
      encoded: encodeBase64(Buffer.from("<script>alert(1)</script>")),
      contentType: "text/html",
      disposition: "attachment",
    },
    {
      filename: "logo.gif",
      encoded: encodeBase64(pixel),
      contentType: "image/gif",
      disposition: "inline",
      contentId: "logo",
    },
  ],
  headers: [["X-Tag", "one"]],
};

/** Puts a message into the inbox; resolves to its id. */
async function capture(raw: Buffer, subject = ordinary.subject): Promise<string> {
  const messageId = newId();
  const envelope = { mailFrom: "b1@bounce.test", rcptTo: "ada@example.test", fromEmail: "orders@shop.test" };
  await insertCaptured(inbox.database, [
    { workspaceId: inbox.workspaceId, messageId, ...envelope, subject, raw },
  ]);
  return messageId;
}

function composed(content: Partial<MessageContent> = {}): Buffer {
  const { headers, body } = composeMessage({ ...ordinary, ...content });
  return renderMessage(headers, body);
}

function get(path: string, url = inbox.url): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${TOKEN}` } });
}

async function json(path: string): Promise<ReturnType<typeof JSON.parse>> {
  return JSON.parse(await (await get(path)).text());
}

describe("access to the inbox", () => {
  /** Headers that a proxy on this machine passes on with default settings; without the token. */
  const strange = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${inbox.url}${path}`, { headers, redirect: "manual" });
  const pathsOf = (id: string) => [
    "/inbox",
    `/inbox/${id}`,
    `/inbox/${id}/html`,
    `/inbox/${id}/source`,
    `/inbox/${id}/attachments/1`,
    "/inbox/messages",
    `/inbox/messages/${id}`,
  ];

  test("is denied without the token, on this machine and elsewhere", async () => {
    const id = await capture(composed({ subject: "Secret of another" }), "Secret of another");
    for (const path of pathsOf(id)) {
      for (const headers of [
        {},
        { "X-API-Key": inbox.key },
        { Authorization: `Bearer ${TOKEN.slice(1)}` },
        { Authorization: `Basic ${TOKEN}` },
        { Cookie: `posthaste_inbox=${TOKEN}; token=${TOKEN}` },
      ]) {
        const answer = await strange(path, headers);
        expect([path, answer.status]).toEqual([path, 401]);
        expect(await answer.text()).not.toContain("Secret of another");
      }
      expect((await strange(`${path}?token=`)).status).toBe(401);
      expect((await strange(`${path}?token=${TOKEN}x`)).status).toBe(401);
    }
  });

  test("is denied with a page for a browser and with JSON for a program", async () => {
    const page = await strange("/inbox");
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(await page.text()).toContain("npm run -s posthaste -- inbox");
    const refusal = await strange("/inbox/messages");
    expect(refusal.headers.get("www-authenticate")).toBe("Bearer");
    expect(await refusal.json()).toMatchObject({ success: false, code: "UNAUTHORIZED" });
  });

  test("is granted to a program with the token in a header or in the query, also through a proxy", async () => {
    const id = await capture(composed());
    const bearer = { Authorization: `Bearer ${TOKEN}`, "X-Forwarded-For": "203.0.113.9" };
    for (const path of pathsOf(id)) expect((await strange(path, bearer)).status).toBe(200);
    for (const path of ["/inbox/messages", `/inbox/messages/${id}`]) {
      expect((await strange(`${path}?token=${TOKEN}`)).status).toBe(200);
    }
    expect((await strange(`/inbox/messages?limit=1&token=${TOKEN}`)).status).toBe(200);
  });

  test("is granted to a browser that opened the address with the token, from then on by a cookie", async () => {
    const opened = await strange(`/inbox?page=1&token=${TOKEN}`);
    expect([opened.status, opened.headers.get("location")]).toEqual([303, "/inbox?page=1"]);
    const cookie = opened.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/; Path=\/inbox; .*HttpOnly; SameSite=Strict$/);
    const Cookie = `other=1; ${cookie.split(";")[0]}`;
    const id = await capture(composed());
    for (const path of pathsOf(id)) expect((await strange(path, { Cookie })).status).toBe(200);
  });

  test("does not exist outside of capture mode", async () => {
    expect((await get("/inbox", direct.url)).status).toBe(404);
    expect((await get("/inbox/messages", direct.url)).status).toBe(404);
  });
});

describe("for programs", () => {
  test("messages are listed newest first, a page at a time", async () => {
    const ids = [await capture(composed()), await capture(composed(), "Second")];
    const newest = await json("/inbox/messages?limit=2");
    expect(newest).toEqual([
      {
        id: ids[1],
        from: "orders@shop.test",
        to: "ada@example.test",
        subject: "Second",
        received_at: expect.any(String),
      },
      expect.objectContaining({ id: ids[0] }),
    ]);
    expect(await json("/inbox/messages?limit=1&page=2")).toEqual([newest[1]]);
    expect(await json("/inbox/messages?limit=none&page=-1")).toEqual(await json("/inbox/messages"));
    expect(await json("/inbox/messages?page=1000000")).toEqual([]);
  });

  test("a message has its headers in order, its parts, its attachments and its source", async () => {
    const raw = composed();
    const message = await json(`/inbox/messages/${await capture(raw)}`);
    expect(message).toMatchObject({
      from: "orders@shop.test",
      to: "ada@example.test",
      subject: "Your order",
    });
    expect(message.text.trim()).toBe("Hello order");
    expect(message.html.trim()).toBe(ordinary.html);
    const names = message.headers.map(({ name }: { name: string }) => name);
    expect(names.slice(0, 2)).toEqual(["From", "To"]);
    expect(message.headers).toContainEqual({ name: "X-Tag", value: "one" });
    expect(message.attachments).toContainEqual({
      filename: "logo.gif",
      content_type: "image/gif",
      content_id: "logo",
      size: pixel.length,
      content: pixel.toString("base64"),
    });
    expect(message.raw).toBe(raw.toString());
  });

  test.each(["messages/", ""])("an unknown id is 404 under /inbox/%s", async (folder) => {
    for (const id of [newId(), "no-id", "%00", "..%2f.."]) {
      expect((await get(`/inbox/${folder}${id}`)).status).toBe(404);
    }
  });
});

describe("for people", () => {
  test("the pages open for an operator who is signed in, and not for others", async () => {
    for (const [isOperator, status] of [
      [true, 200],
      [false, 401],
    ] as const) {
      const { token } = await inbox.newPerson(["*:*"], { isOperator });
      const headers = { Cookie: `posthaste=${token}` };
      expect((await fetch(`${inbox.url}/inbox`, { headers })).status).toBe(status);
      expect((await fetch(`${inbox.url}/inbox/messages`, { headers })).status).toBe(status);
    }
    const headers = { Cookie: "posthaste=unknown" };
    expect((await fetch(`${inbox.url}/inbox`, { headers })).status).toBe(401);
  });

  test("the pages run no script and load nothing from elsewhere", async () => {
    const id = await capture(composed());
    for (const path of ["/inbox", `/inbox/${id}`, `/inbox/${newId()}`]) {
      const page = await get(path);
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
      const policy = page.headers.get("content-security-policy");
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/script-src|unsafe|https?:/);
      expect(page.headers.get("cache-control")).toBe("no-store");
    }
  });

  test("the list leads to older and newer pages and to each message", async () => {
    const ids = [await capture(composed()), await capture(composed()), await capture(composed())];
    const second = await (await get("/inbox?limit=1&page=2")).text();
    expect(second).toContain(`href="/inbox/${ids[1]}"`);
    expect(second).toContain('href="/inbox?page=1&limit=1"');
    expect(second).toContain('href="/inbox?page=3&limit=1"');
    expect((await get("/inbox?page=1000000")).status).toBe(200);
  });

  test("content of messages is escaped on our pages", async () => {
    const hostile = '"><script>alert(1)</script><img src=x onerror=alert(1)>';
    const id = await capture(
      composed({
        subject: hostile,
        text: hostile,
        html: hostile,
        from: { name: hostile, address: "a@b.test" },
      }),
      hostile,
    );
    for (const path of ["/inbox", `/inbox/${id}`]) {
      const page = await (await get(path)).text();
      expect(page).toContain("&lt;script&gt;");
      expect(page).not.toContain("<script");
      expect(page).not.toContain("<img");
    }
  });

  test("the HTML part is sandboxed: no script, no form, nothing loaded, its own images as data URLs", async () => {
    const id = await capture(composed());
    const page = await (await get(`/inbox/${id}`)).text();
    expect(page).toMatch(
      /<iframe src="[^"]+\/html" title="[^"]+" sandbox="allow-popups allow-popups-to-escape-sandbox">/,
    );
    const part = await get(`/inbox/${id}/html`);
    const policy = part.headers.get("content-security-policy");
    expect(policy).toMatch(
      /^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data:;/,
    );
    expect(policy).toContain("form-action 'none'");
    expect(policy).not.toMatch(/allow-(scripts|same-origin|forms)|script-src|https?:/);
    expect(await part.text()).toContain(`<img src="data:image/gif;base64,${pixel.toString("base64")}">`);
  });

  test("an image shown a thousand times does not fill the memory", async () => {
    const encoded = encodeBase64(Buffer.alloc(3_000_000, 1));
    const id = await capture(
      composed({
        html: '<img src="cid:big">'.repeat(1_000),
        attachments: [
          { filename: "big.png", encoded, contentType: "image/png", disposition: "inline", contentId: "big" },
        ],
      }),
    );
    const part = await (await get(`/inbox/${id}/html`)).text();
    expect(part.length).toBeLessThan(70_000_000);
    expect(part).toContain("cid:big");
  });

  test("an attachment is only downloaded, whatever its type", async () => {
    const id = await capture(composed());
    const { attachments } = await json(`/inbox/messages/${id}`);
    const number =
      1 + attachments.findIndex(({ content_type }: { content_type: string }) => content_type === "text/html");
    const file = await get(`/inbox/${id}/attachments/${number}`);
    expect(file.headers.get("content-type")).toBe("application/octet-stream");
    expect(file.headers.get("content-disposition")).toMatch(
      /^attachment; filename="in_voice[^"]*\.html"; filename\*=UTF-8''/,
    );
    expect(file.headers.get("x-content-type-options")).toBe("nosniff");
    expect(file.headers.get("content-security-policy")).toContain("sandbox");
    expect(await file.text()).toBe("<script>alert(1)</script>");
    for (const none of ["0", "3", "-1", "1.5", "x", "constructor"]) {
      expect((await get(`/inbox/${id}/attachments/${none}`)).status).toBe(404);
    }
  });

  test("the source is plain text", async () => {
    const raw = composed();
    const source = await get(`/inbox/${await capture(raw)}/source`);
    expect(source.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(source.headers.get("x-content-type-options")).toBe("nosniff");
    expect(Buffer.from(await source.arrayBuffer()).equals(raw)).toBe(true);
  });
});

const nested = (depth: number): string => {
  const open = Array.from(
    { length: depth },
    (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`,
  );
  return `${open.join("")}\r\nx`;
};

test.each([
  ["nothing", ""],
  ["noise", "\x00\xff\xfe\r\n\x1b[31m"],
  ["a header without end", `Subject: ${"x".repeat(2_000_000)}`],
  ["a thousand parts inside each other", nested(1_000)],
  [
    "a wrong charset and transfer encoding",
    "Content-Type: text/html; charset=x-none\r\nContent-Transfer-Encoding: base64\r\n\r\n%%%\xff",
  ],
  ["encoded words gone wrong", "From: =?utf-9?b?////?= <x>\r\nSubject: =?utf-8?q?=F?=\r\n\r\n"],
  ["a message inside the message", "Content-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\n<script>"],
])("%s in place of a message still has its page and its source", async (_name, octets) => {
  const raw = Buffer.from(octets, "latin1");
  const id = await capture(raw);
  expect((await get(`/inbox/${id}`)).status).toBe(200);
  expect((await get(`/inbox/messages/${id}`)).status).toBe(200);
  expect((await get(`/inbox/${id}/html`)).status).toBe(200);
  const source = await (await get(`/inbox/${id}/source`)).arrayBuffer();
  expect(Buffer.from(source).equals(raw)).toBe(true);
});

test("the newest messages are kept, older ones are deleted", async () => {
  const ids = [await capture(composed()), await capture(composed()), await capture(composed())];
  await removeOldCaptured(inbox.database, 2);
  const listed = await json("/inbox/messages");
  expect(listed.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[1]]);
  expect(await removeOldCaptured(inbox.database, 2)).toBe(0);
});
