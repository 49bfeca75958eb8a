/** The part of the deliverability report that Google Postmaster Tools fills. Nothing is asked meanwhile. */
import { type Static, Type } from "typebox";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { nullable } from "#platform/shapes.ts";
import { findAuthorisation, listDomainStats } from "./store.ts";

const MOST_DOMAINS = 100;

const rate = (description: string) =>
  nullable(Type.Number({ description: `${description}, 0 to 1; null where Google says nothing.` }));

export const GooglePostmaster = Type.Object(
  {
    connected: Type.Boolean({
      description:
        "Whether whoever runs this service connected Google Postmaster Tools, and Google took the credentials when it was last asked.",
    }),
    domains: Type.Array(
      Type.Object({
        domain: Type.String(),
        date: nullable(
          Type.String({
            format: "date",
            description:
              "The newest day that Google has figures of; null: there was too little mail to Gmail.",
          }),
        ),
        spam_rate: rate("Of the mail in inboxes, what recipients called spam"),
        spf_success_rate: rate("Of the mail, what passed SPF"),
        dkim_success_rate: rate("Of the mail, what passed DKIM"),
        dmarc_success_rate: rate("Of the mail, what passed DMARC"),
        encryption_rate: rate("Of the mail, what came by TLS"),
        delivery_error_rate: rate("Of the mail, what was rejected or put off"),
      }),
      {
        description:
          "Verified sending domains that are registered there, as Google last told; the newest figures first, 100 at most.",
      },
    ),
  },
  { $id: "GooglePostmaster" },
);

/** @param isConfigured whether there are credentials */
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
