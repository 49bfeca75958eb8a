/** Statuses that the caller gives to single files of a folder: `--status cleaned_members=bounced`. */
import { basename } from "node:path";
import { InvalidArgumentError } from "commander";
import { type SubscriberStatus, subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import type { GivenFile } from "./given-files.ts";

/** What `--status` says in all its uses. */
export interface StatusChoice {
  /** The status of people in files that are not named. */
  readonly others: SubscriberStatus | undefined;
  /** By the names of files, as the caller wrote them. */
  readonly ofFiles: ReadonlyMap<string, SubscriberStatus>;
}

const MOST_SHOWN = 20;

/**
 * Adds one use of `--status` to the earlier ones: `STATUS`, or `FILE=STATUS`. A name may have equals signs, a status has none.
 * @throws InvalidArgumentError for an unknown status, and for two statuses of the same
 */
export function readStatusChoice(
  text: string,
  { others, ofFiles }: StatusChoice = { others: undefined, ofFiles: new Map() },
): StatusChoice {
  const [, file, word] = /^(.+)=([^=]*)$/s.exec(text) ?? [undefined, undefined, text];
  const status = subscriberStatuses.find((one) => one === word);
  if (status === undefined) {
    throw new InvalidArgumentError(`The status is one of ${subscriberStatuses.join(", ")}.`);
  }
  const before = file === undefined ? others : ofFiles.get(file);
  if (before !== undefined && before !== status) {
    throw new InvalidArgumentError(`${file ?? "--status"} has two statuses, ${before} and ${status}.`);
  }
  return file === undefined
    ? { others: status, ofFiles }
    : { others, ofFiles: new Map(ofFiles).set(file, status) };
}

/**
 * Finds the named files: by the path in the folder or zip file, by the name, or by the name without its extension.
 * @param files those of people
 * @throws Error with a sentence for a name that no file has, or several have, and for a file with two statuses
 */
export function statusesOfFiles(
  files: readonly GivenFile[],
  ofFiles: StatusChoice["ofFiles"],
): Map<GivenFile, SubscriberStatus> {
  const statuses = new Map<GivenFile, SubscriberStatus>();
  for (const [name, status] of ofFiles) {
    const file = fileNamed(name, files);
    const before = statuses.get(file);
    if (before !== undefined && before !== status) {
      throw new Error(`--status gives ${file.name} two statuses, ${before} and ${status}: keep one`);
    }
    statuses.set(file, status);
  }
  return statuses;
}

function fileNamed(name: string, files: readonly GivenFile[]): GivenFile {
  const wanted = name.normalize();
  const named = (nameOf: (file: GivenFile) => string) =>
    files.filter((file) => nameOf(file).normalize() === wanted);
  const found = [
    named((file) => file.name),
    named((file) => basename(file.name)),
    named((file) => listNameOf(file)),
  ].find(({ length }) => length > 0);
  const [file, another] = found ?? [];
  if (file === undefined) {
    throw new Error(`--status names ${name}, and no file of people is called so: ${shownNames(files)}`);
  }
  if (another !== undefined) {
    throw new Error(`--status names ${name}, and several files are called so: ${shownNames(found ?? [])}`);
  }
  return file;
}

/** The name of a file without folder and extension, which its list has. */
export function listNameOf({ name }: GivenFile): string {
  return basename(name).replace(/\.\w+$/, "");
}

function shownNames(files: readonly GivenFile[]): string {
  const names = files.slice(0, MOST_SHOWN).map(({ name }) => name);
  return [...names, ...(files.length > MOST_SHOWN ? ["…"] : [])].join(", ");
}
