/**
 * Which recipient of a delivery report is that of the message whose signed return path it came to. The return path
 * proves that the report is about this message; the report itself proves nothing, so that it may speak of nobody else.
 */
import { addressOf } from "#audience/suppression-lists/suppression-check.ts";
import type { BounceRecipient } from "#mail/bounces/bounce.ts";
import { isAddress, isSameMailbox } from "#mail/bounces/same-mailbox.ts";
import { isReturnPath } from "#mail/bounces/verp.ts";
import type { SentMessage } from "./sent-message-store.ts";

export interface MatchedRecipient {
  readonly recipient: BounceRecipient;
  /** The mailbox that failed, where it is another one than the message was sent to. */
  readonly forwardedTo: string | null;
}

/**
 * Undefined when the report is about others.
 * @param signedId the message whose token the returned header bears; null when it bears none
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
  // A message that came back in place of ours.
  if (signedId !== null && signedId !== message.id) return undefined;
  const strangers = named.filter(({ names }) => names.length > 0);
  if (strangers.length === 0) {
    const unnamed = firstOf(named);
    return unnamed && { recipient: unnamed.recipient, forwardedTo: null };
  }
  // One recipient was written to, so that one mailbox is where it was forwarded to. Several may be anybody's.
  const mailboxes = new Set(named.map(({ names: [name = ""] }) => name.toLowerCase()));
  if (mailboxes.size > 1 && signedId === null) return undefined;
  const forward = firstOf(strangers);
  return forward && { recipient: forward.recipient, forwardedTo: forward.names.at(-1) ?? null };
}

interface Named {
  readonly recipient: BounceRecipient;
  /** The addresses it is given; other names say nothing. */
  readonly names: readonly string[];
}

/** A failure before what is said besides. */
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
    // Some report the sender in place of the recipient.
    const isSender = isSameMailbox(fromEmail, name) || isReturnPath(name.split("@", 1)[0] ?? "");
    return !isSender || isOwn(name);
  });
}
