/**
 * Two PostgreSQL servers: a primary, and a standby that confirms every commit (`synchronous_standby_names`). The standby is
 * a copy of the primary's files between pg_backup_start and pg_backup_stop, because the embedded programs have no
 * pg_basebackup.
 */
import { execFile } from "node:child_process";
import { appendFile, chown, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import {
  DATABASE,
  type DatabaseServer,
  loopback,
  type Place,
  ServerFolder,
  USER,
} from "./database-server.ts";
import { eventually } from "./eventually.ts";

const STANDBY = "s1";
const run = promisify(execFile);

export interface DatabasePair extends AsyncDisposable {
  readonly primary: DatabaseServer;
  readonly standby: DatabaseServer;
  /** DATABASE_URL with both servers, the present standby first. */
  readonly url: string;
}

/** @param place of the primary; the standby is on the loopback address of this machine */
export async function startDatabasePair(place: Place = loopback()): Promise<DatabasePair> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await ServerFolder.make());
  const primary = await folder.start("primary", place);
  const standby = folder.add("standby", loopback());
  await copyToStandby(primary, standby);
  await standby.start();
  await primary.ask(`alter system set synchronous_standby_names = '${STANDBY}'`, "select pg_reload_conf()");
  await eventually("the standby to confirm commits", async () => {
    const [row] = await primary.ask("select from pg_stat_replication where sync_state = 'sync'");
    return row !== undefined;
  });
  const everything = stack.move();
  return {
    primary,
    standby,
    url: `postgres://${USER}@${standby.name},${primary.name}/${DATABASE}?target_session_attrs=read-write`,
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

async function copyToStandby(primary: DatabaseServer, standby: DatabaseServer): Promise<void> {
  const client = new pg.Client({ connectionString: primary.url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('standby', true)");
    await run("cp", ["-a", primary.data, standby.data]);
    const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop()");
    await rm(join(standby.data, "postmaster.pid"));
    await writeOwned(standby, "backup_label", rows[0]?.labelfile ?? "");
  } finally {
    await client.end();
  }
  const { hostname, port } = new URL(primary.url);
  const source = `host=${hostname} port=${port} user=${USER} application_name=${STANDBY} connect_timeout=2`;
  await appendFile(join(standby.data, "postgresql.conf"), `primary_conninfo = '${source}'\n`);
  await writeOwned(standby, "standby.signal", "");
}

/** The server may run as another user, and must be able to remove the file. */
async function writeOwned({ data }: DatabaseServer, name: string, text: string): Promise<void> {
  const owner = await stat(data);
  await writeFile(join(data, name), text);
  await chown(join(data, name), owner.uid, owner.gid);
}
