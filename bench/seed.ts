/** Fills the queue with messages, using the acceptance of POST /emails/send without HTTP. */
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { draft } from "#test/support/drafts.ts";
import { htmlOfLength } from "./mail-body.ts";
import { type BenchSetup, senderDomain } from "./setup.ts";

const INSERTED_AT_ONCE = 500;

export async function seedMessages(
  { database, workspaceId }: BenchSetup,
  options: { readonly count: number; readonly htmlLength: number; readonly domainOf: (at: number) => string },
): Promise<void> {
  const html = htmlOfLength(options.htmlLength);
  for (let from = 0; from < options.count; from += INSERTED_AT_ONCE) {
    const drafts = Array.from({ length: Math.min(INSERTED_AT_ONCE, options.count - from) }, (_, index) =>
      draft(workspaceId, `user${from + index}@${options.domainOf(from + index)}`, {
        fromEmail: `shop@${senderDomain}`,
        subject: `Your order ${from + index}`,
        html,
      }),
    );
    await insertDrafts(database, drafts);
  }
}
