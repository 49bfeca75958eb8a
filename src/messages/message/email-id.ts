/**
 * The id of a mail of POST /emails. Its messages, one for each recipient, have neighbouring ids: the id of the mail is that of
 * the first one, and ends in 00; the others count on in the last octet. So the messages of a mail are a range of the primary
 * key, and each knows the id of its mail.
 */
import { newId } from "#platform/ids.ts";

/** Recipients of one mail that have room in the last octet. */
export const MOST_IDS = 256;

export function newEmailId(): string {
  return emailIdOf(newId());
}

/** The id of the message for the recipient at this place, counted from 0. */
export function idOfRecipient(emailId: string, place: number): string {
  if (place >= MOST_IDS) throw new RangeError(`a mail has at most ${MOST_IDS} recipients`);
  return emailId.slice(0, -2) + place.toString(16).padStart(2, "0");
}

/** The id of the mail that a message of POST /emails belongs to. */
export function emailIdOf(messageId: string): string {
  return `${messageId.slice(0, -2)}00`;
}

/** The last id that a message of the mail can have. */
export function lastIdOf(emailId: string): string {
  return `${emailId.slice(0, -2)}ff`;
}
