import { addressOf } from "#audience/suppression-lists/suppression-check.ts";
import type { BounceRecipient } from "#mail/bounces/read-bounce.ts";
import { isAddress, isSameMailbox } from "#mail/bounces/same-mailbox.ts";
import { isReturnPath } from "#mail/bounces/verp.ts";
import type { SentMessage } from "./sent-message-store.ts";

export interface MatchedRecipient {
  readonly recipient: BounceRecipient;
  /** The mailbox that failed, if the message was forwarded to another one than its recipient's. */
  readonly forwardedTo: string | null;
}

/**
 * Finds the recipient in a delivery report that is the message's. The signed return path proves that the report is about this
 * message; the report itself proves nothing, so that it changes no other recipient.
 * @param signedId the message whose token is in the returned header; null: no token
 * @returns undefined when the report is about others
 */
export function matchRecipient(
  recipients: readonly BounceRecipient[],
  message: SentMessage,
  signedId: string | null,
): MatchedRecipient | undefined {
  const own = addressOf(message);
  const isOwn = (name: string) => isSameMailbox(own, name);
  const named = recipients.map((recipient) => ({ recipient, names: namesIn(recipient, message, isOwn) }));
  const about = firstOf(named.filter(({ names }) => names.some(isOwn)));
  if (about !== undefined) {
    const { finalRecipient } = about.recipient;
    const isForward =
      finalRecipient !== null && about.names.includes(finalRecipient) && !isOwn(finalRecipient);
    return { recipient: about.recipient, forwardedTo: isForward ? finalRecipient : null };
  }
  // The returned header is that of another message.
  if (signedId !== null && signedId !== message.id) return undefined;
  const others = named.filter(({ names }) => names.length > 0);
  if (others.length === 0) {
    const unnamed = firstOf(named);
    return unnamed && { recipient: unnamed.recipient, forwardedTo: null };
  }
  // A single other mailbox is the one to which the recipient forwards. Several other mailboxes may be unrelated to the
  // message.
  const mailboxes = new Set(named.map(({ names: [name = ""] }) => name.toLowerCase()));
  if (mailboxes.size > 1 && signedId === null) return undefined;
  const forward = firstOf(others);
  return forward && { recipient: forward.recipient, forwardedTo: forward.names.at(-1) ?? null };
}

interface Named {
  readonly recipient: BounceRecipient;
  /** The names in the report that are addresses; other names are ignored. */
  readonly names: readonly string[];
}

/** The first failed recipient, or else the first one. */
function firstOf(named: readonly Named[]): Named | undefined {
  return named.find(({ recipient }) => recipient.action === "failed") ?? named[0];
}

function namesIn(
  { address, finalRecipient }: BounceRecipient,
  { fromEmail }: SentMessage,
  isOwn: (name: string) => boolean,
): string[] {
  return [address, finalRecipient].filter((name): name is string => {
    if (name === null || !isAddress(name)) return false;
    // Some servers report the sender in place of the recipient.
    const isSender = isSameMailbox(fromEmail, name) || isReturnPath(name.split("@", 1)[0] ?? "");
    return !isSender || isOwn(name);
  });
}
