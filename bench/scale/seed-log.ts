/** Writes the message log of an installation: a month of mail of all workspaces, a tenth of it by their campaigns. */
import sql, { type Sql } from "sql-template-tag";
import { ensurePartitions } from "#messages/partitions/create-partitions.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { withoutIndexes } from "../without-indexes.ts";
import { inParts } from "./in-parts.ts";
import { idOfSql, personId, personIdSql, seedId, seedIdSql, workspaceAt } from "./seed-ids.ts";
import type { Size } from "./size.ts";

const DAYS = 30;
const INSERTED_AT_ONCE = 500_000;
/** Of so many messages of a workspace one belongs to its campaign. */
const OF_CAMPAIGN = 10;
/** Of so many recipients of a campaign one has opened it. */
const OPENED = 3;
const isOpened = (number: Sql) => sql`${number} % ${OPENED} = 0`;

/** The messages of the log: number n belongs to workspace n modulo their count, and is sent a little after number n - 1. */
export class LogNumbers {
  readonly count: number;
  readonly workspaces: number;
  /** People of each workspace. */
  readonly people: number;
  readonly #beganMs: number;
  readonly #stepMs: number;

  /** @param now the time of the last message */
  constructor({ log, workspaces, people }: Size, now: Date) {
    this.count = log;
    this.workspaces = workspaces;
    this.people = Math.floor(people / workspaces);
    this.#beganMs = now.getTime() - DAYS * DAY_MS;
    this.#stepMs = (DAYS * DAY_MS) / Math.max(1, log);
  }

  idOf(number: number): string {
    return seedId(this.#msOf(number), number);
  }

  workspaceOf(number: number): WorkspaceId {
    return workspaceAt(number % this.workspaces);
  }

  /** The id of a message that the campaign of a workspace sent, one of the oldest `among`. */
  randomOfCampaign(workspace: number, among: number): string {
    return this.idOf(Math.floor(Math.random() * among) * OF_CAMPAIGN * this.workspaces + workspace);
  }

  /** The id of a person who got such a message. */
  randomRecipientOf(workspace: number): string {
    return personId(workspace * this.people + Math.floor(Math.random() * this.recipients));
  }

  /** Recipients of the campaign of each workspace. */
  get recipients(): number {
    return Math.min(Math.floor(this.count / this.workspaces / OF_CAMPAIGN), this.people);
  }

  #msOf(number: number): number {
    return Math.floor(this.#beganMs + number * this.#stepMs);
  }

  /** When the campaign's message to a person was sent and opened, as SQL; null: never. @param person the number in the workspace */
  mailSql(person: Sql, workspace: Sql): { readonly sentAt: Sql; readonly openedAt: Sql } {
    const number = sql`(${person} * ${OF_CAMPAIGN * this.workspaces}::bigint + ${workspace})`;
    const time = sql`to_timestamp(${this.#msSql(number)} / 1000.0)`;
    return {
      sentAt: sql`case when ${number} < ${this.count}::bigint then ${time} end`,
      openedAt: sql`case when ${number} < ${this.count}::bigint and ${isOpened(number)} then ${time} end`,
    };
  }

  #msSql(number: Sql): Sql {
    return sql`floor(${this.#beganMs}::float8 + ${number} * ${this.#stepMs}::float8)::bigint`;
  }

  /** Columns of the message `n`: its place among those of its workspace, number of the workspace, and time. */
  get columns() {
    return sql`
      n, n / ${this.workspaces}::bigint as place, n % ${this.workspaces}::bigint as workspace,
      ${this.#msSql(sql`n`)} as ms`;
  }
}

export async function seedLog(db: Database, numbers: LogNumbers, now: Date): Promise<void> {
  for (let day = 0; day <= DAYS; day++) {
    await ensurePartitions(db, new Date(now.getTime() - day * DAY_MS));
  }
  await withoutIndexes(db, ["messages"], () =>
    inParts(numbers.count, INSERTED_AT_ONCE, (from, end) => insertLog(db, numbers, from, end)),
  );
  await withoutIndexes(db, ["campaign_recipients"], () =>
    inParts(numbers.count, INSERTED_AT_ONCE, (from, end) => insertRecipients(db, numbers, from, end)),
  );
}

function insertLog(db: Database, numbers: LogNumbers, from: number, end: number): Promise<number> {
  return db.run(sql`
    insert into messages (workspace_id, id, source, origin_id, origin_name, from_email, localpart, domain, subject, status,
      previous_status, attempts, source_ip, created_at, updated_at)
    select ${idOfSql("workspace", sql`workspace`)}, ${seedIdSql(sql`ms`, sql`n`)},
      case when is_of_campaign then 'campaign' else 'api' end,
      case when is_of_campaign then ${idOfSql("campaign", sql`workspace`)} end, 'Benchmark', 'shop@sender.test',
      'person' || n, 'mail' || n % 2000 || '.test', 'A subject of the usual length',
      case when n % 50 = 0 then 'bounced' else 'delivered' end, 'queued', 1, '192.0.2.1', to_timestamp(ms / 1000.0),
      to_timestamp(ms / 1000.0)
    from (
      select *, place % ${OF_CAMPAIGN} = 0 as is_of_campaign
      from (select ${numbers.columns} from generate_series(${from}::bigint, ${end - 1}::bigint) n) m) m`);
}

/** The campaign's message number k is for the person number k of the workspace. */
function insertRecipients(db: Database, numbers: LogNumbers, from: number, end: number): Promise<number> {
  const person = personIdSql(sql`(workspace * ${numbers.people}::bigint + place / ${OF_CAMPAIGN}::bigint)`);
  return db.run(sql`
    insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id, first_opened_at)
    select ${idOfSql("workspace", sql`workspace`)}, ${idOfSql("campaign", sql`workspace`)}, ${person},
      ${seedIdSql(sql`ms`, sql`n`)}, case when ${isOpened(sql`n`)} then to_timestamp(ms / 1000.0) end
    from (select ${numbers.columns} from generate_series(${from}::bigint, ${end - 1}::bigint) n) m
    where place % ${OF_CAMPAIGN} = 0 and place / ${OF_CAMPAIGN}::bigint < ${numbers.people}::bigint`);
}
