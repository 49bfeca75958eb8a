/** Hands leased messages to the transports, after the pre-send check of those that need it. */

import type { Ending } from "#delivery/message/attempt.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { Decision, PresendCheck } from "#delivery/message/presend-decision.ts";
import type { Transport } from "#delivery/message/transport.ts";
import type { HeldMessages } from "#delivery/queue/held-messages.ts";
import { declined } from "#delivery/sms/gateway.ts";
import type { SmsTransport } from "#delivery/sms/sms-transport.ts";
import type { Clock } from "#platform/clock.ts";
import type { Log } from "#platform/log/log.ts";

/** The delay before messages are leased again after a failed pre-send check. */
const CHECK_AGAIN_SECONDS = 5;

export interface DispatcherOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly held: HeldMessages;
  readonly check: PresendCheck;
  readonly transport: Transport;
  /** Null without an SMS gateway. */
  readonly smsTransport: SmsTransport | null;
  /** Called for messages that the check ends or requeues; those given to a transport end there. */
  readonly onEnd: (message: LeasedMessage, ending: Ending) => void;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** @param until the end of the leases on the clock of `performance.now()` */
  async dispatch(messages: readonly LeasedMessage[], until: number): Promise<void> {
    const decisions = await this.#check(
      messages.filter(({ is_stale, has_content }) => is_stale || !has_content),
    );
    for (const leased of messages) {
      const message = withLocalExpiry(leased, this.#options.clock.now());
      this.#begin(message, decisions.get(message.message_id), until);
    }
  }

  /** If the check fails, all its messages are requeued. */
  async #check(messages: readonly LeasedMessage[]): Promise<ReadonlyMap<string, Decision>> {
    if (messages.length === 0) return new Map();
    try {
      return await this.#options.check(messages);
    } catch (error) {
      this.#options.log.error({ err: error }, "pre-send check failed: its messages are requeued");
      return new Map(
        messages.map(({ message_id }) => [message_id, { kind: "requeue", seconds: CHECK_AGAIN_SECONDS }]),
      );
    }
  }

  #begin(message: LeasedMessage, decision: Decision | undefined, until: number): void {
    const { held, transport, onEnd } = this.#options;
    if (decision?.kind === "sms") {
      this.#beginSms(message, decision, until);
      return;
    }
    const mail = { ...message, content: decision?.kind === "email" ? decision.content : null };
    held.add(mail, until);
    if (decision?.kind === "end") onEnd(mail, decision);
    else if (decision?.kind === "requeue") onEnd(mail, { kind: "release", seconds: decision.seconds });
    else transport.send(mail);
  }

  #beginSms(message: LeasedMessage, { sms }: Extract<Decision, { kind: "sms" }>, until: number): void {
    const { held, smsTransport, onEnd } = this.#options;
    const ready = { ...message, sms };
    held.add(ready, until);
    if (smsTransport !== null) smsTransport.send(ready);
    else {
      // The SMS is retried until it expires, as if the gateway could not be reached.
      const attempt = { result: declined("No SMS gateway is configured", true), gateway: null };
      onEnd(ready, { kind: "attempted", attempt });
    }
  }
}

/** Converts `expires_at` from the database's clock to the clock of this process. */
function withLocalExpiry(message: LeasedMessage, now: Date): LeasedMessage {
  return { ...message, expires_at: new Date(now.getTime() + message.lives_ms) };
}
