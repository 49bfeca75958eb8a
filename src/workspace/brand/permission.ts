/** The permission resource of the brand and of the texts, which recipients see. */
import type { Resource } from "#platform/http/endpoint.ts";

export const brandResource: Resource = {
  name: "brand",
  label: "Brand and texts",
  group: "Account",
  about: "Colours, footer and wordings of the pages and mails that recipients see.",
};
