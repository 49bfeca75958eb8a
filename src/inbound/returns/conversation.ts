/**
 * The port for mail that comes back: whom it is for is decided at RCPT, and what was said 250 to is in the database.
 * Nothing is ever passed on, or answered with a mail.
 */

import { reportMailLimit } from "../../mail/bounces/report-mail.ts";
import { attachmentMailLimit } from "../../mail/reports/report-attachment.ts";
import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import type { Conversation } from "../listener/listener.ts";
import { SmtpReply } from "../listener/smtp-reply.ts";
import { storable } from "../storable.ts";
import { type AddressDeps, type ReturnedAddress, readReturnedAddress } from "./returned-address.ts";
import { insertInboundMails } from "./store.ts";
import { isTooOld } from "./too-old.ts";

const MOST_RECIPIENTS = 10;
/** In one connection; who goes on is guessing. */
const MOST_REFUSED = 50;
/** As Postfix counts: a message that has seen more servers goes in circles. */
const MOST_RECEIVED = 50;
/** What may wait to be processed; whoever comes beyond comes back later. */
const BACKLOG = { waiting: 20_000, bytes: 2 * 1024 ** 3 };
/** Octets that are read of a mail, and so stored. */
const readOctets = (kind: ReturnedAddress["kind"]) =>
  kind === "report" ? attachmentMailLimit : reportMailLimit;

export interface ReturnsDeps extends AddressDeps {
  readonly clock: Clock;
  /** Called when there is mail to process. */
  readonly onStored: () => void;
}

export function createReturns(deps: ReturnsDeps): (network: string) => Conversation {
  const { db, clock } = deps;
  return (network) => {
    let kinds = new Map<string, ReturnedAddress["kind"]>();
    let refused = 0;
    const refuse = (enhanced: string, text: string) => {
      refused += 1;
      return refused > MOST_REFUSED
        ? new SmtpReply(421, "4.7.0", "Too many unknown recipients")
        : new SmtpReply(550, enhanced, text);
    };
    return {
      async mail() {
        kinds = new Map();
      },
      async recipient({ address }) {
        const returned = await readReturnedAddress(deps, address);
        if (returned === "foreign") throw refuse("5.7.1", "We do not relay");
        if (
          returned === null ||
          (returned.kind === "return_path" && (await isTooOld(db, returned.messageId, clock.now())))
        ) {
          throw refuse("5.1.1", "There is no such mailbox");
        }
        const isSecondReport = returned.kind === "report" && [...kinds.values()].includes("report");
        if (kinds.size >= MOST_RECIPIENTS || isSecondReport) {
          throw new SmtpReply(452, "4.5.3", "Too many recipients: send the others a copy of their own");
        }
        kinds.set(address, returned.kind);
      },
      async message(message, { mailFrom }) {
        if (countReceived(message) > MOST_RECEIVED) {
          throw new SmtpReply(
            554,
            "5.4.6",
            `The message goes in circles: more than ${MOST_RECEIVED} Received fields`,
          );
        }
        const mails = [...kinds].map(([rcptTo, kind]) => ({
          id: newId(),
          kind,
          mailFrom: mailFrom ? storable(mailFrom.address) : "",
          rcptTo: storable(rcptTo),
          network,
          raw: message.subarray(0, readOctets(kind)),
          bytes: message.length,
        }));
        if (!(await insertInboundMails(db, mails, BACKLOG, clock.now()))) {
          throw new SmtpReply(452, "4.3.1", "Too much mail waits at this moment: retry later");
        }
        deps.onStored();
        return "2.0.0 Taken";
      },
    };
  };
}

function countReceived(message: Buffer): number {
  const header =
    message
      .subarray(0, reportMailLimit)
      .toString("latin1")
      .split(/\r?\n\r?\n/, 1)[0] ?? "";
  return header.match(/^received[ \t]*:/gim)?.length ?? 0;
}
