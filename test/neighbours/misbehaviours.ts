/**
 * Eight kinds of resource abuse, each limited in time and amount and restricted to loopback. A misbehaving tenant has an
 * API key of a workspace on the plan `free`; an anonymous client has no key. Each runs in a separate process
 * (`startMisbehaviour`).
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { apiCaller } from "#test/support/api-caller.ts";
import { type RawAnswer, rawRequest } from "./raw-request.ts";

export interface Target {
  readonly port: number;
  readonly inboundPort: number;
  /** API key of the misbehaving tenant. */
  readonly key: string;
  /** An address on the tenant's verified domain. */
  readonly sender: string;
  /** A domain whose receiver takes all mail. */
  readonly domain: string;
  readonly bounceDomain: string;
}

/** Number of answers by their text. */
export type Answers = Readonly<Record<string, number>>;

export interface Misbehaviour {
  readonly about: string;
  /** @param isOver true when no more work may be started */
  readonly run: (target: Target, note: (answer: RawAnswer) => void, isOver: () => boolean) => Promise<void>;
}

const TENANT = "127.0.0.3";
const MiB = 1024 * 1024;
const JSON_TYPE = { "Content-Type": "application/json" };

/** Repeats `work` on `lines` concurrent lines until the phase ends. */
async function onLines(
  lines: number,
  isOver: () => boolean,
  work: (line: number) => Promise<void>,
): Promise<void> {
  const line = async (_: unknown, number: number) => {
    while (!isOver()) await work(number);
  };
  await Promise.all(Array.from({ length: lines }, line));
}

/** Closes the sockets that are still open at the end of the phase. */
async function untilOver(sockets: ReadonlySet<Socket>, isOver: () => boolean): Promise<void> {
  while (!isOver()) await delay(100);
  for (const socket of sockets) socket.destroy();
}

function bomb(begin: string, piece: string, end: string, bytes: number): Buffer {
  const count = Math.floor(bytes / piece.length);
  return Buffer.concat([Buffer.from(begin), Buffer.alloc(count * piece.length, piece), Buffer.from(end)]);
}

/** Bodies of 29 MB of the smallest JSON elements. */
function bombs(): Buffer[] {
  const mail = '{"to":"a@b.test","subject":"s","body":"b","x":';
  return [
    bomb(`${mail}[`, "{},", "{}]}", 29 * MiB),
    bomb(`${mail}[`, "[],", "[]]}", 29 * MiB),
    bomb(`${mail}[`, '"",', '""]}', 29 * MiB),
    bomb(`${mail}{`, '"k":1,', '"k":1}}', 29 * MiB),
  ];
}

/** Keeps `open` requests open whose bodies are incomplete. */
async function stall(
  {
    open,
    perSecond,
    request,
  }: { open: number; perSecond: number; request: Parameters<typeof rawRequest>[0] },
  note: (answer: RawAnswer) => void,
  isOver: () => boolean,
): Promise<void> {
  const sockets = new Set<Socket>();
  const ending = untilOver(sockets, isOver);
  while (!isOver()) {
    if (sockets.size < open) {
      void rawRequest(request, (socket) => {
        sockets.add(socket);
        socket.on("close", () => sockets.delete(socket));
      }).then((answer) => !isOver() && note(answer));
    }
    await delay(1_000 / perSecond);
  }
  await ending;
}

export const misbehaviours = {
  "json-bombs": {
    about: "a tenant repeatedly sends four concurrent bodies of 29 MB of tiny JSON elements",
    async run({ port, key }, note, isOver) {
      const bodies = bombs();
      await onLines(bodies.length, isOver, async (line) => {
        const body = bodies[line] ?? Buffer.alloc(0);
        const headers = { ...JSON_TYPE, "X-API-Key": key };
        note(
          await rawRequest({ port, from: TENANT, path: "/api/v1/emails/send?dry_run=true", headers, body }),
        );
      });
    },
  },
  "incomplete-bodies": {
    about:
      "a client without a key posts 1 MB of JSON to an unknown path, and keeps 1,500 requests with incomplete bodies open",
    async run({ port }, note, isOver) {
      const body = bomb("[", "{},", "{}]", MiB - 10);
      const from = "127.0.0.2";
      const flood = onLines(6, isOver, async () => {
        note(await rawRequest({ port, from, path: "/nothing", headers: JSON_TYPE, body }));
        await delay(200);
      });
      const request = {
        port,
        from,
        path: "/nothing",
        headers: JSON_TYPE,
        body,
        sentBytes: body.length - 100,
      };
      await Promise.all([flood, stall({ open: 1_500, perSecond: 95, request }, note, isOver)]);
    },
  },
  "stalled-uploads": {
    about: "a tenant announces 60 bodies of 29 MB, half of them uploads, and sends one byte of each",
    async run({ port, key }, note, isOver) {
      const api = apiCaller(() => `http://127.0.0.1:${port}`, key);
      const list = (await api("POST", "/mailing-lists", { name: "List" })).body.data.id;
      const body = Buffer.alloc(29 * MiB, " ");
      const request = { port, from: TENANT, body, sentBytes: 1 };
      const headers = { ...JSON_TYPE, "X-API-Key": key };
      const mail = { ...request, path: "/api/v1/emails/send", headers };
      const upload = {
        ...request,
        path: `/api/v1/mailing-lists/${list}/subscribers/import-async`,
        headers: { ...headers, "Content-Type": "multipart/form-data; boundary=b" },
      };
      await Promise.all(
        [mail, upload].map((one) => stall({ open: 30, perSecond: 50, request: one }, note, isOver)),
      );
    },
  },
  "large-mails": {
    about: "a tenant queues 15 mails with the longest allowed text and 40 with attachments of 20 MB",
    async run({ port, key, domain }, note, isOver) {
      const headers = { ...JSON_TYPE, "X-API-Key": key };
      const send = async (number: number, fields: object) => {
        const body = Buffer.from(
          JSON.stringify({ to: `big${number}@${domain}`, subject: "Large", ...fields }),
        );
        note(await rawRequest({ port, from: TENANT, path: "/api/v1/emails/send", headers, body }));
      };
      const line = "A line of text with a link to https://example.test/page and an umlaut: ü.\n";
      const content = Buffer.alloc(20 * MiB, "attachment").toString("base64");
      for (let number = 0; number < 55 && !isOver(); number++) {
        if (number >= 15)
          await send(number, {
            body: "See attachment",
            attachments: [{ filename: "a.bin", content_type: "application/octet-stream", content }],
          });
        else {
          await send(number, { body: line.repeat(330_000) });
          await send(number, { body: line.repeat(26_000) });
        }
      }
    },
  },
  "large-imports": {
    about: "a tenant starts 14 imports of 400,000 rows",
    async run({ port, key }, note, isOver) {
      const api = apiCaller(() => `http://127.0.0.1:${port}`, key);
      const list = (await api("POST", "/mailing-lists", { name: "List" })).body.data.id;
      const rows = Array.from({ length: 400_000 }, (_, at) => `person${at}@people.test\n`);
      const file = new Blob([`Email\n${rows.join("")}`]);
      for (let number = 0; number < 14 && !isOver(); number++) {
        const form = new FormData();
        form.append("csvFile", file, "people.csv");
        const { status, body } = await api("POST", `/mailing-lists/${list}/subscribers/import-async`, form);
        note({ status, headers: "", body: JSON.stringify(body) });
      }
      while (!isOver()) await delay(100);
    },
  },
  "stored-drafts": {
    about: "a tenant creates campaign drafts with attachments of 20 MB until it is refused",
    async run({ port, key, sender }, note, isOver) {
      const content = Buffer.alloc(20 * MiB, "attachment").toString("base64");
      const draft = {
        name: "Draft",
        from_email: sender,
        from_name: "A",
        subject: "s",
        html_content: "<p>b</p>",
        attachments: [{ filename: "a.bin", content_type: "application/octet-stream", content }],
      };
      const body = Buffer.from(JSON.stringify(draft));
      const headers = { ...JSON_TYPE, "X-API-Key": key };
      await onLines(2, isOver, async () => {
        note(await rawRequest({ port, from: TENANT, path: "/api/v1/campaigns", headers, body }));
        await delay(100);
      });
    },
  },
  "junk-mail": {
    about: "a mail client sends 400 mails of 1 MB of empty lines to the public address for complaints",
    async run({ inboundPort, bounceDomain }, note, isOver) {
      const data = `Subject: junk\r\n\r\n${"\r\n".repeat(MiB / 2)}.\r\n`;
      let sent = 0;
      await onLines(
        8,
        () => isOver() || sent >= 400,
        async () => {
          sent++;
          note(await junkMail(inboundPort, `fbl@${bounceDomain}`, data));
        },
      );
      while (!isOver()) await delay(100);
    },
  },
  connections: {
    about:
      "a client without a key opens 10,000 connections and submits a tenant's sign-up form without pause",
    async run({ port, key }, note, isOver) {
      const api = apiCaller(() => `http://127.0.0.1:${port}`, key);
      const list = (await api("POST", "/mailing-lists", { name: "List" })).body.data.id;
      const form = (await api("PUT", `/mailing-lists/${list}/signup-form`, { is_active: true })).body.data;
      const sockets = new Set<Socket>();
      const ending = untilOver(sockets, isOver);
      const flood = onLines(1, isOver, async () => {
        if (sockets.size < 10_000) {
          const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.5" });
          sockets.add(socket);
          socket.on("error", () => {}).on("close", () => sockets.delete(socket));
        }
        await delay(sockets.size % 50 === 0 ? 10 : 0);
      });
      let number = 0;
      const fill = onLines(2, isOver, async () => {
        const body = Buffer.from(`email=stranger${number++}%40strangers.test&first_name=A`);
        const headers = { "Content-Type": "application/x-www-form-urlencoded" };
        const answer = await rawRequest({
          port,
          from: "127.0.0.6",
          path: new URL(form.url).pathname,
          headers,
          body,
        });
        note({ ...answer, body: "" });
        await delay(50);
      });
      await Promise.all([flood, fill, ending]);
    },
  },
} as const satisfies Record<string, Misbehaviour>;

export type MisbehaviourName = keyof typeof misbehaviours;

/** Sends one mail over SMTP from an anonymous network; the status is the SMTP reply code. */
function junkMail(port: number, to: string, data: string): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.4" });
    const steps = [
      "EHLO junk.test\r\n",
      "MAIL FROM:<a@junk.test>\r\n",
      `RCPT TO:<${to}>\r\n`,
      "DATA\r\n",
      data,
      "QUIT\r\n",
    ];
    let last = "";
    socket.setEncoding("latin1");
    socket.setTimeout(30_000, () => socket.destroy());
    socket.on("data", (text: string) => {
      if (!/^\d{3} /m.test(text.slice(text.trimEnd().lastIndexOf("\n") + 1))) return;
      const isRefusal = /^[45]/.test(text);
      if (steps.length > 1 || isRefusal) last = text.trim();
      if (isRefusal) socket.end("QUIT\r\n");
      else socket.write(steps.shift() ?? "");
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve({ status: Number(last.slice(0, 3)), headers: "", body: last }));
  });
}

export interface RunningMisbehaviour {
  /** Ends the misbehaviour and returns the answers that it got. */
  end(): Promise<Answers>;
}

export async function startMisbehaviour(
  name: MisbehaviourName,
  target: Target,
): Promise<RunningMisbehaviour> {
  const child = fork(fileURLToPath(import.meta.url), [name], { execArgv: [] });
  child.send(target);
  await once(child, "message");
  return {
    async end() {
      child.send("end");
      const [answers] = (await once(child, "message")) as [Answers];
      child.kill();
      return answers;
    },
  };
}

/** An answer as one line: status, and for a refusal its code and text. */
function lineOf({ status, headers, body }: RawAnswer): string {
  if (status === 0) return "connection closed";
  if (status < 400) return String(status);
  if (!body.startsWith("{")) return `${status} ${body.slice(0, 120)}`;
  const { success, error, code } = JSON.parse(body) as Record<string, unknown>;
  const envelope = success === false && typeof error === "string" && typeof code === "string";
  const retry = /\r\nretry-after: *(\d+)/.exec(headers)?.[1];
  return `${status} ${envelope ? `${code}: ${error}` : `NOT AN ENVELOPE ${body.slice(0, 200)}`}${retry === undefined ? "" : ` (Retry-After ${retry})`}`;
}

if (import.meta.main) {
  const [target] = (await once(process, "message")) as [Target];
  const answers: Record<string, number> = {};
  const note = (answer: RawAnswer) => {
    const line = lineOf(answer).replaceAll(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, "…");
    answers[line] = (answers[line] ?? 0) + 1;
  };
  let isOver = false;
  const misbehaviour: Misbehaviour = misbehaviours[process.argv[2] as MisbehaviourName];
  process.on("message", () => {
    isOver = true;
  });
  process.on("disconnect", () => process.exit());
  const running = misbehaviour.run(target, note, () => isOver);
  process.send?.("begun");
  await running.catch((fault: unknown) => {
    answers[`script failed: ${String(fault)}`] = 1;
  });
  while (!isOver) await delay(50);
  process.send?.(answers);
}
