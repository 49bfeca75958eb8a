/** Google Postmaster Tools in the deliverability report, from stored statistics. */
import { type Static, Type } from "typebox";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { nullable } from "#platform/shapes.ts";
import { findAuthorisation, listDomainStats } from "./store.ts";

const MOST_DOMAINS = 100;

const rate = (description: string) =>
  nullable(Type.Number({ description: `${description}, 0 to 1; null when Google gives no figure.` }));

export const GooglePostmaster = Type.Object(
  {
    connected: Type.Boolean({
      description:
        "Whether the operator connected Google Postmaster Tools, and Google accepted the credentials at the last request.",
    }),
    domains: Type.Array(
      Type.Object({
        domain: Type.String({ description: "The sending domain." }),
        date: nullable(
          Type.String({
            format: "date",
            description: "The newest day with figures; null when there was too little mail to Gmail.",
          }),
        ),
        spam_rate: rate("Share of mail in inboxes that recipients reported as spam"),
        spf_success_rate: rate("Share of mail that passed SPF"),
        dkim_success_rate: rate("Share of mail that passed DKIM"),
        dmarc_success_rate: rate("Share of mail that passed DMARC"),
        encryption_rate: rate("Share of mail received over TLS"),
        delivery_error_rate: rate("Share of mail rejected or deferred"),
      }),
      {
        description: "Verified sending domains that are registered there, newest figures first, 100 at most.",
      },
    ),
  },
  { $id: "GooglePostmaster" },
);

/** @param isConfigured whether credentials are configured */
export async function googlePostmasterOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  isConfigured: boolean,
): Promise<Static<typeof GooglePostmaster>> {
  if (!isConfigured) return { connected: false, domains: [] };
  const [connected, domains] = await Promise.all([
    findAuthorisation(db),
    listDomainStats(db, workspaceId, MOST_DOMAINS),
  ]);
  return { connected: connected ?? false, domains };
}
