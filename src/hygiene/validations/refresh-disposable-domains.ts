import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseDomain } from "#mail/address.ts";
import { ApiError } from "#platform/errors.ts";
import { newId } from "#platform/ids.ts";
import { fetchFault, readResponseText } from "#platform/network/read-response.ts";
import { makeDataDir } from "#platform/process/make-data-dir.ts";
import { disposableFile, entriesOf } from "./disposable-and-role-lists.ts";

const FETCH_MS = 30_000;
const MOST_BYTES = 10 * 1024 ** 2;
/** An error page has fewer lines that are domains. */
const FEWEST_DOMAINS = 100;
/** Percent of the lines that may be no domains. */
const MOST_WRONG = 1;

/**
 * Replaces the operator's list of disposable domains atomically; running services use it within a minute.
 * @param from a path, or an http or https URL
 * @returns how many domains it has
 * @throws ApiError BAD_REQUEST with a sentence for the operator; the list stays as it was
 */
export async function refreshDisposableDomains(dataDir: string, from: string): Promise<number> {
  const text = /^https?:\/\//i.test(from) ? await fetchList(from) : await readListFile(from);
  const entries = [...new Set(entriesOf(text))];
  const domains = entries.flatMap((entry) => {
    const parsed = parseDomain(entry);
    return parsed.ok ? [parsed.domain] : [];
  });
  if (domains.length < FEWEST_DOMAINS) {
    throw refusal(`it has ${domains.length} domains, but at least ${FEWEST_DOMAINS} are expected`);
  }
  if ((entries.length - domains.length) * 100 > entries.length * MOST_WRONG) {
    throw refusal(`${entries.length - domains.length} of its ${entries.length} lines are not domains`);
  }
  const path = disposableFile(dataDir);
  const partial = `${path}.${newId()}`;
  makeDataDir(dataDir);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeFile(partial, `${domains.join("\n")}\n`, { flag: "wx", flush: true });
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
  return domains.length;
}

async function readListFile(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > MOST_BYTES) throw tooLarge();
    return await readFile(path, "utf8");
  } catch (fault) {
    throw fault instanceof ApiError ? fault : refusal(`it cannot be read (${fetchFault(fault)})`);
  }
}

async function fetchList(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS) });
    if (!response.ok) throw refusal(`its server answered ${response.status}`);
    const { text, isWhole } = await readResponseText(response, MOST_BYTES);
    if (!isWhole) throw tooLarge();
    return text;
  } catch (fault) {
    throw fault instanceof ApiError ? fault : refusal(`it cannot be fetched (${fetchFault(fault)})`);
  }
}

function tooLarge(): ApiError {
  return refusal(`it is larger than ${MOST_BYTES / 1024 ** 2} MB`);
}

function refusal(why: string): ApiError {
  return new ApiError("BAD_REQUEST", `The list was not replaced: ${why}`);
}
