/**
 * The yardstick for acceptance: the least that Fastify and PostgreSQL can do. One route takes JSON without validation
 * and answers after a durable insert. Inserts that arrive during a commit share the next one, two commits run
 * concurrently, and the pool has six connections. It has no API key, no limits, no log, and writes one row.
 *
 * Run by hand, `node bench/bare-handler.ts DATABASE_URL` prints its port.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import Fastify from "fastify";
import pg from "pg";

const POOL = 6;
const BATCHES_IN_FLIGHT = 2;
const MOST_ROWS = 500;

export interface BareHandler extends AsyncDisposable {
  readonly port: number;
}

/** Starts the handler in a separate process, with an empty table in the given database. */
export async function startBareHandler(databaseUrl: string): Promise<BareHandler> {
  const child = fork(fileURLToPath(import.meta.url), [databaseUrl], {
    execArgv: [],
    silent: true,
  });
  child.stderr?.pipe(process.stderr);
  const [port] = (await once(child, "message")) as [number];
  return {
    port,
    async [Symbol.asyncDispose]() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

interface Waiting {
  readonly body: { to: string; subject: string; body: string };
  readonly resolve: (id: string) => void;
  readonly reject: (error: unknown) => void;
}

function createInserter(pool: pg.Pool): (body: Waiting["body"]) => Promise<string> {
  const waiting: Waiting[] = [];
  let inFlight = 0;

  const insert = async (batch: Waiting[]) => {
    try {
      const column = (read: (body: Waiting["body"]) => string) => batch.map(({ body }) => read(body));
      const { rows } = await pool.query<{ id: string }>({
        name: "insert",
        text: `insert into bare_messages (recipient, subject, body)
               select * from unnest($1::text[], $2::text[], $3::text[]) returning id`,
        values: [column((body) => body.to), column((body) => body.subject), column((body) => body.body)],
      });
      for (const [index, { resolve }] of batch.entries()) resolve(rows[index]?.id ?? "");
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  const start = () => {
    while (inFlight < BATCHES_IN_FLIGHT && waiting.length > 0) {
      inFlight += 1;
      void insert(waiting.splice(0, MOST_ROWS)).finally(() => {
        inFlight -= 1;
        start();
      });
    }
  };

  return (body) =>
    new Promise((resolve, reject) => {
      waiting.push({ body, resolve, reject });
      start();
    });
}

if (import.meta.main) {
  const pool = new pg.Pool({ connectionString: process.argv[2] ?? "", max: POOL });
  await pool.query(`
    drop table if exists bare_messages;
    create table bare_messages (
      id bigint generated always as identity primary key, recipient text not null, subject text not null, body text not null)`);
  const insert = createInserter(pool);
  const server = Fastify();
  server.post<{ Body: Waiting["body"] }>("/", async (request, reply) => {
    reply.code(201);
    return { id: await insert(request.body) };
  });
  await server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = server.server.address() as AddressInfo;
  process.stdout.write(`listening on port ${port}\n`);
  process.send?.(port);
}
