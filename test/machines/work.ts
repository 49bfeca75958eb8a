/**
 * What the machines of a test do: accept mail at a steady rate, import people, receive bounces, post events. `check` compares
 * the outcome with what callers were told.
 */
import { createTransport } from "nodemailer";
import sql from "sql-template-tag";
import { returnPathKeys } from "#delivery/compose/compose-leased-message.ts";
import { encodeReturnPath } from "#mail/bounces/verp.ts";
import { createDatabase } from "#platform/database/pool.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { recipientDomain, say, smallMail } from "#test/faults/fault-run.ts";
import { brokenInvariants, countStates } from "#test/faults/invariants.ts";
import { findLostOrDuplicated } from "#test/faults/lost-or-duplicated.ts";
import { type RetryingClient, startRetryingClient } from "#test/faults/retrying-client.ts";
import { type ApiAnswer, apiCaller, type CallApi } from "#test/support/api-caller.ts";
import { eventually } from "#test/support/eventually.ts";
import { deliveryReport } from "#test/support/returns.ts";
import { platform } from "#test/support/scene.ts";
import { apiKey, INBOUND_PORT, type Installation, SECRET_KEY } from "./installation.ts";

/** A balancer gives up a machine that does not answer. */
const ANSWER_MS = 4_000;
const SMTP_MS = 5_000;
const PEOPLE = 60_000;
/** Longer than a minute, which an Idempotency-Key of a dead request or a lost lease may take. */
const REST_MS = 240_000;
const DELIVERED = "message.delivered";
const BOUNCED = "message.bounced";

interface PostedEvent {
  readonly type: string;
  readonly data: { readonly message_id: string };
}

export class Work {
  readonly client: RetryingClient;
  readonly #installation: Installation;
  readonly #call: CallApi;
  readonly #returnPathKey = returnPathKeys(createSecrets(SECRET_KEY)).signing;
  /** Ids of messages whose bounces were accepted. */
  readonly #bounced = new Set<string>();
  readonly #import: string;
  readonly #workspaceId: string;
  #turn = 0;

  private constructor(
    installation: Installation,
    call: CallApi,
    { rate, job, workspaceId }: { readonly rate: number; readonly job: string; readonly workspaceId: string },
  ) {
    this.#installation = installation;
    this.#call = call;
    this.#import = job;
    this.#workspaceId = workspaceId;
    this.client = startRetryingClient({
      url: () => this.#nextApi(),
      apiKey,
      rate,
      answerMs: ANSWER_MS,
      emailFor: smallMail,
    });
  }

  /** Prepares sending from the addresses of the delivery machines, a webhook and an import, and begins to send. */
  static async begin(installation: Installation, rate: number): Promise<Work> {
    const api = installation.machine("api-1").program.url;
    const call = apiCaller(() => api, apiKey);
    const sources = [...installation.machines.values()].filter(({ roles }) => roles === "delivery");
    for (const { host } of sources) {
      const source = { ip: host.address, hostname: platform.MAIL_HOSTNAME, pool: "machines" };
      dataOf(await call("POST", "/sending-ips", source));
    }
    // Half of the domains leave from the addresses of the pool, the others from any machine.
    const domains = [0, 1, 2, 3].map(recipientDomain);
    const rule = { name: "pool", match: { recipient_domains: domains }, action: { pool: "machines" } };
    dataOf(await call("POST", "/routing-rules", rule));
    const events = [DELIVERED, BOUNCED];
    dataOf(await call("POST", "/webhooks", { url: installation.parts.events.url, events }));
    const workspaceId = dataOf(await call("GET", "/workspace")).id;
    const list = dataOf(await call("POST", "/mailing-lists", { name: "News" })).id;
    const rows = Array.from({ length: PEOPLE }, (_, at) => `p${at}@people.test\n`);
    const form = new FormData();
    form.append("csvFile", new Blob([`Email\n${rows.join("")}`]), "people.csv");
    const { job_id } = dataOf(await call("POST", `/mailing-lists/${list}/subscribers/import-async`, form));
    return new Work(installation, call, { rate, job: job_id, workspaceId });
  }

  /** Sends bounces of some delivered messages to the machine with the role inbound, until it has accepted them. */
  async bounceSome(amount: number): Promise<void> {
    const { copies } = await this.#installation.parts.mx.count();
    const ids = [...this.client.accepted.values()].filter(
      (id) => copies.has(messageIdOf(id)) && !this.#bounced.has(id),
    );
    for (const id of ids.slice(-amount)) {
      this.#bounced.add(id);
      await eventually(`the bounce of ${id} to be accepted`, () => this.#bounce(id), REST_MS);
    }
  }

  /** Resolves when further messages have been accepted. */
  async acceptMore(amount: number): Promise<void> {
    const before = this.client.accepted.size;
    await eventually("more messages", async () => this.client.accepted.size >= before + amount, REST_MS);
  }

  /**
   * Ends the load, waits until everything is done, and compares.
   * @param excused copies of a message that are allowed, by Message-ID
   * @returns one sentence for each broken promise
   */
  async check(excused: ReadonlyMap<string, number>): Promise<string[]> {
    await this.client.finish();
    const { mx, events, database } = this.#installation.parts;
    const ids = [...this.client.accepted.values()];
    say(`accepted             ${ids.length} (${this.client.unanswered} requests without an answer, retried)`);
    await using stack = new AsyncDisposableStack();
    const db = createDatabase(database.url, { size: 2, name: "check of machines", onError: () => {} });
    stack.defer(() => db.close());
    const timeouts: string[] = [];
    const wait = async (what: string, isDone: () => Promise<boolean>) => {
      const startedAt = performance.now();
      await eventually(what, isDone, REST_MS).catch((fault: Error) => void timeouts.push(fault.message));
      const seconds = (performance.now() - startedAt) / 1_000;
      say(`waited ${seconds.toFixed(1).padStart(5)} s for ${what}`);
    };
    await wait("the queue to be empty", async () => {
      const left = await db.row<{ count: number }>(sql`select count(*)::int as count from delivery_queue`);
      return left?.count === 0;
    });
    const stateOfImport = async () => dataOf(await this.#call("GET", `/jobs/${this.#import}`));
    await wait("the import to end", async () => (await stateOfImport()).status === "completed");
    const imported = await stateOfImport();
    say(`imported             ${imported.counts.created} of ${PEOPLE} people`);
    await wait("the bounces to be recorded", async () => {
      const states = await countStates(db);
      return states.bounced === this.#bounced.size;
    });
    const posted = () => {
      const read = events.arrived.map(({ body }) => JSON.parse(body) as PostedEvent);
      const idsOf = (types: readonly string[]) =>
        new Set(read.filter(({ type }) => types.includes(type)).map(({ data }) => data.message_id));
      return { outcomes: idsOf([DELIVERED, BOUNCED]), bounces: idsOf([BOUNCED]) };
    };
    // A bounce that arrives before the delivery is recorded leaves no `message.delivered`.
    await wait("an event for each outcome and each bounce", async () => {
      const { outcomes, bounces } = posted();
      return outcomes.isSupersetOf(new Set(ids)) && bounces.isSupersetOf(this.#bounced);
    });
    const states = await countStates(db);
    say(`in the database      ${JSON.stringify(states)}`);
    say(`bounces accepted     ${this.#bounced.size}`);
    say(`events               ${events.arrived.length} for ${posted().outcomes.size} messages`);
    const stored = Object.values(states).reduce((sum, amount) => sum + amount, 0);
    return [
      ...timeouts,
      ...findLostOrDuplicated(await mx.count(), ids.map(messageIdOf), excused),
      ...this.client.contradicted.map((key) => `two ids for the Idempotency-Key ${key}`),
      ...this.client.refused
        .slice(0, 3)
        .map((answer) => `an answer that a correct client must not get: ${answer}`),
      ...(stored === ids.length ? [] : [`${stored} messages in the database for ${ids.length} accepted`]),
      ...(imported.counts.created === PEOPLE ? [] : [`${imported.counts.created} people imported`]),
      ...(await brokenInvariants(db)),
    ];
  }

  #nextApi(): string {
    const machines = [...this.#installation.machines.values()].filter(({ roles }) => roles === "api");
    this.#turn += 1;
    return machines[this.#turn % machines.length]?.program.url ?? "";
  }

  async #bounce(id: string): Promise<boolean> {
    const transport = createTransport({
      host: this.#installation.machine("inbound-1").host.address,
      port: INBOUND_PORT,
      ignoreTLS: true,
      connectionTimeout: SMTP_MS,
      greetingTimeout: SMTP_MS,
      socketTimeout: SMTP_MS,
    });
    try {
      const to = `${encodeReturnPath(this.#workspaceId, id, this.#returnPathKey)}@${platform.BOUNCE_DOMAIN}`;
      const raw = deliveryReport("gone@receiver-0.test").replaceAll("\n", "\r\n");
      await transport.sendMail({ envelope: { from: "", to }, raw });
      return true;
    } catch {
      return false;
    } finally {
      transport.close();
    }
  }
}

const messageIdOf = (id: string) => `${id}@${platform.PLATFORM_FROM.split("@")[1]}`;

function dataOf({ status, body }: ApiAnswer) {
  if (status >= 300) throw new Error(`the API answered ${status}: ${JSON.stringify(body)}`);
  return body.data;
}
