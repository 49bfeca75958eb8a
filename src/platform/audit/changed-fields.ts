/** The changed fields of an operation, as the audit log keeps them: without secrets, contents and long values. */
import type { FieldChange } from "./audit-event.ts";

const MOST_FIELDS = 40;
/** Characters of a value as JSON. */
const LONGEST_VALUE = 500;

const secretName =
  /pass(?:word|phrase)|secret|token|private|credential|authorization|recovery|otp|challenge|passkey|(?:^|_)key$|^code$/i;
/** Contents of mails, uploaded files, and addresses of recipients, which states of saved views may have, too. */
const contentNames = new Set([
  "file",
  "csvFile",
  "html",
  "html_content",
  "text",
  "text_content",
  "body",
  "content",
  "design",
  "mjml",
  "compiled_html",
  "test_data",
  "attachments",
  "steps",
  "entries",
  "emails",
  "state",
  "test_value",
]);
/** They change with every write. */
const volatileNames = new Set(["id", "created_at", "updated_at", "last_used_at", "last_seen_at", "revision"]);

type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/**
 * @param before the resource as its GET operation answers; undefined for a new resource
 * @param asked the body of the request
 * @param after the result of the change, which may have other fields than `before`
 * @param hidesValues whether the values are personal data of recipients
 */
export function changedFields(
  before: Fields | undefined,
  asked: Fields,
  after: Fields,
  hidesValues: boolean,
): FieldChange[] {
  const known = before ?? {};
  const names = new Set([
    ...Object.keys(asked),
    ...(before === undefined ? [] : Object.keys(after).filter((name) => name in known)),
  ]);
  const changes: FieldChange[] = [];
  for (const field of names) {
    if (volatileNames.has(field) || changes.length === MOST_FIELDS) continue;
    const [old, fresh] = [known[field], field in after ? after[field] : asked[field]];
    if (!Object.hasOwn(asked, field) && !isComparable(field, old, fresh)) continue;
    const [oldText, freshText] = [textOf(old), textOf(fresh)];
    if (oldText === freshText) continue;
    const isHidden =
      hidesValues ||
      secretName.test(field) ||
      contentNames.has(field) ||
      Math.max(oldText.length, freshText.length) > LONGEST_VALUE;
    changes.push(
      isHidden
        ? { field, before: null, after: null, is_hidden: true }
        : { field, before: shown(old), after: shown(fresh), is_hidden: false },
    );
  }
  return changes;
}

/**
 * Whether a field that the request does not name can be compared: results of changes have no contents, and may have an object
 * where the resource has its name.
 */
function isComparable(field: string, old: unknown, fresh: unknown): boolean {
  return !contentNames.has(field) && isFields(old ?? fresh) === isFields(fresh ?? old);
}

function textOf(value: unknown): string {
  return JSON.stringify(value ?? null);
}

/** The value without secrets inside: fields of objects, user names, passwords and queries of URLs. */
function shown(value: unknown): unknown {
  const text = JSON.stringify(value ?? null, (name, inner: unknown) => {
    if (name !== "" && (secretName.test(name) || contentNames.has(name))) return "…";
    if (typeof inner !== "string") return inner;
    return inner
      .replaceAll("\0", "")
      .toWellFormed()
      .replaceAll(/(\w+:\/\/)[^\s/@]*@/g, "$1…@")
      .replaceAll(/(https?:\/\/[^\s?#]+)[?#]\S*/g, "$1?…");
  });
  return JSON.parse(text);
}

const nameFields = ["name", "email", "domain", "field_label", "ip", "target", "url", "selector", "subject"];

/** What people call the resource: the first of some fields that is a text. */
export function displayNameOf(...rows: readonly unknown[]): string | null {
  for (const row of rows) {
    if (!isFields(row)) continue;
    const name = nameFields.map((field) => row[field]).find((value) => typeof value === "string");
    if (name !== undefined) return String(shown(name)).slice(0, 200);
  }
  return null;
}

const idFields = ["subscriber_id", "id", "job_id", "transaction_id"];

/** The id in the result of a change. */
export function idIn(row: unknown): string | null {
  if (!isFields(row)) return null;
  const id = idFields.map((field) => row[field]).find((value) => typeof value === "string");
  return id === undefined ? null : String(id);
}
