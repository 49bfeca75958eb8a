/** The role inbound: the SMTP ports, with what follows from the mail that they receive. */
import { type Inbound, openSmtpPorts } from "#inbound/open-smtp-ports.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import { announceSuppressedSql } from "#webhooks/deliveries/announce-suppressed-store.ts";
import { createReceivedReaction } from "#webhooks/events/announce-non-message-events.ts";
import type { Count } from "./counters.ts";
import { publicUrlOf } from "./mail-identity.ts";
import { createReactions, onUnsubscribed } from "./reactions.ts";

/** @throws an Error for the operator if a port cannot be bound; nothing is left running then */
export function startInbound(context: ProcessContext, count: Count = () => {}): Promise<Inbound> {
  return openSmtpPorts(context, {
    onMoved: createReactions(context.clock, count),
    onUnsubscribed,
    onReceived: createReceivedReaction(publicUrlOf(context.config)),
    announceSuppressed: announceSuppressedSql,
  });
}
