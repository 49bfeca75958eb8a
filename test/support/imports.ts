/** Imports and exports over HTTP with the real job runner: uploads a file and waits for the end of its job. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { EXPORT_JOB, exportHandler } from "#audience/exports/export-job.ts";
import { IMPORT_JOB, importHandler } from "#audience/imports/import-job.ts";
import { startRunner } from "#platform/jobs/runner.ts";
import { createLog } from "#platform/log/log.ts";
import { plans } from "#workspace/billing/plans.ts";
import type { ApiAnswer } from "./api-caller.ts";
import { endedJob } from "./ended-job.ts";
import { startService, type TestService } from "./service.ts";

export interface ImportService extends TestService {
  readonly dataDir: string;
  /** Uploads a file to a list and returns the answer. */
  readonly upload: (
    list: string,
    content: string | Uint8Array,
    fields?: Record<string, string | readonly string[]>,
  ) => Promise<ApiAnswer>;
  /** Uploads a file and returns the job when it has ended. */
  readonly importFile: (
    list: string,
    content: string | Uint8Array,
    fields?: Record<string, string | readonly string[]>,
  ) => Promise<ApiAnswer["body"]>;
  /** Waits until the job named in an answer has ended, and returns it. */
  readonly ended: (answer: ApiAnswer) => Promise<ApiAnswer["body"]>;
  readonly newList: () => Promise<string>;
}

/** Starts the service and the runner; both stop after the test file. */
export async function startImportService(): Promise<ImportService> {
  const dataDir = await mkdtemp(join(tmpdir(), "posthaste-imports-"));
  const service = await startService({ env: { DATA_DIR: dataDir } });
  const { database, call, clock } = service;
  const log = createLog("silent");
  const handlers = {
    [IMPORT_JOB]: importHandler({ db: database, clock, plans }),
    [EXPORT_JOB]: exportHandler({ db: database, clock }),
  };
  const runner = await startRunner({ database, dataDir, log, handlers, recurring: [] });
  afterAll(async () => {
    await runner.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  const upload: ImportService["upload"] = (list, content, fields = {}) => {
    const form = new FormData();
    for (const [name, values] of Object.entries(fields)) {
      for (const value of [values].flat()) form.append(name, value);
    }
    form.append(
      "csvFile",
      new Blob([typeof content === "string" ? content : new Uint8Array(content)]),
      "people.csv",
    );
    return call("POST", `/mailing-lists/${list}/subscribers/import-async`, form);
  };
  const ended = (answer: ApiAnswer) => endedJob(service, answer);
  return {
    ...service,
    dataDir,
    upload,
    ended,
    importFile: async (...file) => ended(await upload(...file)),
    newList: async () => (await call("POST", "/mailing-lists", { name: "News" })).body.data.id,
  };
}
