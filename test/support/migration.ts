/** Runs `migrate-from` into a test service, against local doubles of other products, and reads the result over the API. */
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";
import { runCli } from "#cli/program.ts";
import { newId } from "#platform/ids.ts";
import type { ImportService } from "./imports.ts";

export interface ProductRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON of the body; undefined without one. */
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface ProductAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes are sent as they are, everything else as JSON. */
  readonly body?: unknown;
}

export interface Product {
  readonly url: string;
  readonly requests: readonly ProductRequest[];
}

/** An HTTP server that answers as a product does; it stops after the test file. */
export async function startProduct(answer: (request: ProductRequest) => ProductAnswer): Promise<Product> {
  const requests: ProductRequest[] = [];
  const respond = async (message: IncomingMessage, response: ServerResponse) => {
    const { pathname: path, searchParams: query } = new URL(message.url ?? "/", "http://product.test");
    const sent = await text(message);
    const request: ProductRequest = {
      method: message.method ?? "",
      path,
      query,
      headers: message.headers,
      body: sent === "" ? undefined : JSON.parse(sent),
    };
    requests.push(request);
    const { status = 200, headers = {}, body = {} } = answer(request);
    const isFile = body instanceof Uint8Array;
    response.writeHead(status, { ...(!isFile && { "Content-Type": "application/json" }), ...headers });
    response.end(isFile ? body : JSON.stringify(body));
  };
  const server = createServer((message, response) => void respond(message, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** A person as the API shows a member, in the parts that a migration writes. */
export interface MigratedPerson {
  readonly name: string;
  readonly status: string;
  readonly source: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Migration {
  readonly folder: string;
  /** Runs `migrate-from` with these words. `report` is the parsed output of --json. */
  run(words: readonly string[], secrets?: Readonly<Record<string, string>>): Promise<MigrationRun>;
  /** The members of each list by list name and address. */
  people(): Promise<Record<string, Record<string, MigratedPerson>>>;
  /** Creates another key of the workspace. */
  newKey(permissions: readonly string[]): Promise<string>;
  /** Sets the status of a member over the API. */
  setStatus(list: string, email: string, status: string): Promise<void>;
  /** Entries of each suppression list that people keep, sorted. */
  suppressions(): Promise<Record<string, string[]>>;
  /** Types of global custom fields by name. */
  fieldTypes(): Promise<Record<string, string>>;
  /** Templates and layouts with their content, by name. */
  templates(): Promise<
    Record<string, { readonly kind: string; readonly subject: string; readonly html: string }>
  >;
}

interface MigrationRun {
  readonly code: number;
  readonly report: ReturnType<typeof JSON.parse>;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of the file of what was left out, without the header. */
  readonly leftOut: readonly string[];
}

/** Each call has a workspace of its own in the service. */
export async function startMigration(service: ImportService): Promise<Migration> {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-migration-test-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const { key } = await service.newWorkspace();
  const ask = async (path: string) => (await service.call("GET", path, undefined, { key })).body.data;

  return {
    folder,
    async run(words, secrets = {}) {
      const written = { stdout: "", stderr: "" };
      const output = (to: "stdout" | "stderr") => ({
        write(line: string) {
          written[to] += line;
        },
      });
      const leftOutPath = join(folder, `${newId()}.csv`);
      const code = await runCli(["migrate-from", ...words, "--report", leftOutPath], {
        stdout: output("stdout"),
        stderr: output("stderr"),
        environment: { POSTHASTE_URL: service.url, POSTHASTE_KEY: key, ...secrets },
        endpoints: () => service.api.endpoints,
        serve: async () => {},
      });
      const leftOut = await readFile(leftOutPath, "utf8").catch(() => "");
      return {
        code,
        ...written,
        report: words.includes("--json") && code === 0 ? JSON.parse(written.stdout) : undefined,
        leftOut: leftOut.split("\r\n").slice(1, -1),
      };
    },
    async people() {
      const lists: Record<string, Record<string, MigratedPerson>> = {};
      for (const { id, name } of await ask("/mailing-lists")) {
        const { subscribers } = await ask(`/mailing-lists/${id}/subscribers?limit=100`);
        lists[name] = Object.fromEntries(
          subscribers.map((one: ReturnType<typeof JSON.parse>) => [
            one.email,
            {
              name: [one.first_name, one.last_name].filter(Boolean).join(" "),
              status: one.status,
              source: one.source,
              fields: JSON.parse(one.custom_fields),
            },
          ]),
        );
      }
      return lists;
    },
    async newKey(permissions) {
      const { body } = await service.call("POST", "/api-keys", { name: "Limited", permissions }, { key });
      return body.data.key;
    },
    async setStatus(listName, email, status) {
      const lists: { readonly id: string; readonly name: string }[] = await ask("/mailing-lists");
      const list = lists.find(({ name }) => name === listName)?.id;
      const { subscribers } = await ask(
        `/mailing-lists/${list}/subscribers?search=${encodeURIComponent(email)}`,
      );
      await service.call(
        "PUT",
        `/mailing-lists/${list}/subscribers/${subscribers[0].subscriber_id}/status`,
        { status },
        { key },
      );
    },
    async suppressions() {
      const { suppression_lists: lists } = await ask("/suppression-lists");
      const found: Record<string, string[]> = {};
      for (const { id, name, is_system: isSystem } of lists) {
        const entries: { readonly entry_value: string }[] | null = await ask(
          `/suppression-lists/${id}/entries`,
        );
        if (!isSystem) found[name] = (entries ?? []).map(({ entry_value }) => entry_value).toSorted();
      }
      return found;
    },
    async fieldTypes() {
      const fields: { readonly field_name: string; readonly field_type: string }[] =
        await ask("/custom-fields/global");
      return Object.fromEntries(fields.map(({ field_name, field_type }) => [field_name, field_type]));
    },
    async templates() {
      const { templates } = await ask("/templates?limit=100");
      const found: Record<string, { kind: string; subject: string; html: string }> = {};
      for (const { id } of templates) {
        const { name, kind, subject, html_content: html } = await ask(`/templates/${id}`);
        found[name] = { kind, subject, html };
      }
      return found;
    },
  };
}
