/**
 * A well-behaved tenant in a separate process: it sends small mails, sometimes one with an attachment, imports one person
 * at a time, and measures how long each takes. It runs the receiver of its mail, so that it knows when each message
 * arrives. The parent process starts and ends a phase over IPC.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { SMTPServer } from "smtp-server";
import { apiCaller } from "#test/support/api-caller.ts";
import { eventually } from "#test/support/eventually.ts";

export interface WellBehavedTenantOptions {
  readonly url: string;
  readonly key: string;
  /** Address of its receiver, which is the MX of `domain`. */
  readonly receiver: { readonly host: string; readonly port: number };
  readonly domain: string;
}

/** The tenant's measurements of one phase; times in milliseconds. */
export interface Seen {
  readonly sends: readonly number[];
  /** From the 201 to the arrival at the receiver. */
  readonly mails: readonly number[];
  readonly uploads: readonly number[];
  readonly jobs: readonly number[];
  /** Answers that a well-behaved tenant must not get, and messages and jobs that timed out. */
  readonly faults: readonly string[];
}

export interface WellBehavedTenant {
  begin(): void;
  /** Ends the phase and waits for all work that it started. */
  end(): Promise<Seen>;
  stop(): void;
}

const SEND_EVERY_MS = 100;
const UPLOAD_EVERY_MS = 4_000;
const ATTACHMENT_BYTES = 2_000_000;
/** Timeout of a message or a job. */
const LONGEST_MS = 60_000;

export async function startWellBehavedTenant(options: WellBehavedTenantOptions): Promise<WellBehavedTenant> {
  const child = fork(fileURLToPath(import.meta.url), { execArgv: [] });
  child.send(options);
  await once(child, "message");
  return {
    begin: () => void child.send("begin"),
    async end() {
      child.send("end");
      const [seen] = (await once(child, "message")) as [Seen];
      return seen;
    },
    stop: () => void child.kill(),
  };
}

class Tenant {
  readonly #options: WellBehavedTenantOptions;
  readonly #call;
  readonly #arrivedAt = new Map<string, number>();
  #list = "";
  #number = 0;
  #isOver = true;
  #seen = emptySeen();
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: WellBehavedTenantOptions) {
    this.#options = options;
    this.#call = apiCaller(() => options.url, options.key);
  }

  /** Starts the receiver and creates the list for imports. */
  async prepare(): Promise<void> {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ["AUTH", "STARTTLS"],
      size: 50_000_000,
      onData: (stream, session, done) => {
        for (const { address } of session.envelope.rcptTo) this.#arrivedAt.set(address, performance.now());
        stream.resume().on("end", () => done());
      },
    });
    server.on("error", () => {});
    const { host, port } = this.#options.receiver;
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    this.#list = (await this.#call("POST", "/mailing-lists", { name: "News" })).body.data.id;
  }

  begin(): void {
    this.#seen = emptySeen();
    this.#isOver = false;
    this.#work = Promise.all([
      this.#every(SEND_EVERY_MS, async () => void (await this.#send())),
      this.#every(UPLOAD_EVERY_MS, () => this.#uploadBoth()),
    ]);
  }

  async end(): Promise<Seen> {
    this.#isOver = true;
    await this.#work;
    return this.#seen;
  }

  /** Starts `work` at a fixed rate, independent of its duration, and waits for all of it. */
  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    const begun: Promise<void>[] = [];
    for (let next = performance.now(); !this.#isOver; next += ms) {
      begun.push(work().catch((fault: unknown) => void this.#seen.faults.push(String(fault))));
      await delay(Math.max(0, next + ms - performance.now()));
    }
    await Promise.all(begun);
  }

  async #send(attachments: readonly object[] = []): Promise<number> {
    const to = `person${this.#number++}@${this.#options.domain}`;
    const startedAt = performance.now();
    const { status, body } = await this.#call("POST", "/emails/send", {
      to,
      subject: "Your order",
      body: "<p>Your order is on its way.</p>",
      attachments,
    });
    const answeredAt = performance.now();
    if (status !== 201) throw new Error(`a mail was answered ${status}: ${JSON.stringify(body)}`);
    if (attachments.length === 0) this.#seen.sends.push(answeredAt - startedAt);
    const arrivedAt = await eventually(
      `${to} to have its mail`,
      async () => this.#arrivedAt.get(to),
      LONGEST_MS,
    );
    this.#seen.mails.push(Math.max(0, arrivedAt - answeredAt));
    return answeredAt - startedAt;
  }

  async #uploadBoth(): Promise<void> {
    const content = Buffer.alloc(ATTACHMENT_BYTES, "attachment ").toString("base64");
    this.#seen.uploads.push(
      await this.#send([{ filename: "order.bin", content_type: "application/octet-stream", content }]),
    );
    const startedAt = performance.now();
    const form = new FormData();
    form.append("csvFile", new Blob([`Email\nnew${this.#number}@people.test\n`]), "people.csv");
    const path = `/mailing-lists/${this.#list}/subscribers/import-async`;
    const { status, body } = await this.#call("POST", path, form);
    if (status !== 202) throw new Error(`an import was answered ${status}: ${JSON.stringify(body)}`);
    const hasEnded = async () => {
      const job = (await this.#call("GET", `/jobs/${body.data.job_id}`)).body.data;
      return job.status === "completed";
    };
    await eventually("the import of one row to end", hasEnded, LONGEST_MS);
    this.#seen.jobs.push(performance.now() - startedAt);
  }
}

function emptySeen() {
  return {
    sends: [] as number[],
    mails: [] as number[],
    uploads: [] as number[],
    jobs: [] as number[],
    faults: [] as string[],
  };
}

if (import.meta.main) {
  const [options] = (await once(process, "message")) as [WellBehavedTenantOptions];
  const tenant = new Tenant(options);
  await tenant.prepare();
  process.on("message", (word: "begin" | "end") => {
    if (word === "begin") tenant.begin();
    else void tenant.end().then((seen) => process.send?.(seen));
  });
  process.on("disconnect", () => process.exit());
  process.send?.("ready");
}
