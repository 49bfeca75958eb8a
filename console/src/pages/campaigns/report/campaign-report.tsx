import type { Data } from "@posthaste/client";

export function CampaignReport(_props: { readonly campaign: Data<"getCampaign"> }) {
  return null;
}
