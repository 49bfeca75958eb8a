/** Reads lists of recipients and of addresses for replies. */
import { comparable } from "#mail/address.ts";
import { type ParsedMailbox, parseMailbox } from "#mail/mailbox.ts";
import type { Mailbox } from "#mail/message/encode-header.ts";
import { type RecipientType, recipientTypes } from "#messages/message/email-details.ts";
import { type FieldFault, invalid } from "#platform/errors.ts";
import { MOST_RECIPIENTS } from "./new-mail.ts";

type Parsed = Extract<ParsedMailbox, { ok: true }>;

/** A recipient, who gets a message of their own. */
export interface AddressedRecipient extends Parsed {
  readonly type: RecipientType;
}

export interface ReadRecipients {
  /** Each address once. */
  readonly recipients: readonly AddressedRecipient[];
  /** As the header shows them. */
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
}

export type GivenMailboxes = string | readonly string[] | null | undefined;

/** How many texts a field has, none of them read. */
export function textsIn(given: unknown): number {
  if (given === undefined || given === null) return 0;
  return Array.isArray(given) ? given.length : 1;
}

/**
 * Too many addresses are refused unread.
 * @throws ApiError VALIDATION_ERROR that names every address that cannot be read
 */
export function readRecipients(
  given: Readonly<Record<"to", GivenMailboxes>> & Readonly<Partial<Record<RecipientType, GivenMailboxes>>>,
): ReadRecipients {
  const all = recipientTypes.reduce((sum, type) => sum + textsIn(given[type]), 0);
  if (all > MOST_RECIPIENTS) {
    const message = `to, cc and bcc must have at most ${MOST_RECIPIENTS} addresses together, and have ${all}`;
    throw invalid({ field: "to", message });
  }
  const faults: FieldFault[] = [];
  const lists = recipientTypes.map((type) => readList(given[type], type, faults));
  const [to = [], cc = []] = lists;
  if (to.length === 0 && faults.length === 0) faults.push({ field: "to", message: "to must not be empty" });
  refuse(faults);
  const recipients = new Map<string, AddressedRecipient>();
  for (const [place, list] of lists.entries()) {
    const type = recipientTypes[place] ?? "to";
    for (const mailbox of list) {
      const key = comparable(mailbox.address);
      if (!recipients.has(key)) recipients.set(key, { ...mailbox, type });
    }
  }
  return { recipients: [...recipients.values()], to: to.map(mailboxOf), cc: cc.map(mailboxOf) };
}

/**
 * Too many addresses are refused unread.
 * @throws ApiError VALIDATION_ERROR that names every address that cannot be read
 */
export function readMailboxes(given: GivenMailboxes, field: string, most: number): Mailbox[] {
  if (textsIn(given) > most)
    throw invalid({ field, message: `${field} must have at most ${most} addresses` });
  const faults: FieldFault[] = [];
  const list = readList(given, field, faults);
  refuse(faults);
  return list.map(mailboxOf);
}

function readList(given: GivenMailboxes, field: string, faults: FieldFault[]): Parsed[] {
  if (given === undefined || given === null) return [];
  if (typeof given === "string") return readOne(given, field, faults);
  if (!Array.isArray(given)) {
    faults.push({ field, message: `${field} must be an array` });
    return [];
  }
  return given.flatMap((one: unknown, at) => readOne(one, `${field}[${at}]`, faults));
}

function readOne(given: unknown, field: string, faults: FieldFault[]): Parsed[] {
  if (typeof given !== "string") {
    faults.push({ field, message: `${field} must be a string` });
    return [];
  }
  const parsed = parseMailbox(given);
  if (parsed.ok) return [parsed];
  faults.push({ field, message: `${field}: ${parsed.message}` });
  return [];
}

const mailboxOf = ({ name, address }: Parsed): Mailbox => ({ name, address });

/** Errors that are reported; further ones are left out. */
const MOST_FAULTS = 8;

function refuse(faults: readonly FieldFault[]): void {
  const [first, ...rest] = faults.slice(0, MOST_FAULTS);
  if (first !== undefined) throw invalid(first, ...rest);
}
