/** Results of the mail to one recipient domain: a row of the reports on campaigns and on a workspace. */
import { type Static, Type } from "typebox";

export const DomainStats = Type.Object(
  {
    domain: Type.String({ description: "The recipient domain." }),
    total_messages: Type.Integer({ description: "Without those that were suppressed or cancelled." }),
    percent_total: Type.Number({ description: "0 to 100." }),
    success: Type.Integer({ description: "Delivered, including messages that were complained about later." }),
    bounced: Type.Integer({ description: "Messages that bounced." }),
    failure: Type.Integer({ description: "Messages that failed for another reason." }),
    still_trying: Type.Integer({ description: "Queued, being sent or deferred." }),
  },
  { $id: "DomainStats" },
);

export type DomainRow = Omit<Static<typeof DomainStats>, "percent_total">;

/** @param messages of all domains together */
export function withShare(row: DomainRow, messages: number): Static<typeof DomainStats> {
  const { domain, total_messages, ...ends } = row;
  const percent = messages === 0 ? 0 : Math.round((total_messages / messages) * 10_000) / 100;
  return { domain, total_messages, percent_total: percent, ...ends };
}
