/** The filter of the recipients, as the address has it, for the bodies of acts on them. */
import exported from "schema:CampaignRecipientExport";
import selected from "schema:CampaignSegment";
import type { Body } from "@posthaste/client";
import { valuesWithin } from "../../../filter/filter.ts";
import type { RecipientFilter } from "./recipients-link.tsx";

export type FilterWords = Readonly<Record<string, string>>;

export function exportFilter(words: FilterWords): NonNullable<Body<"exportCampaignRecipients">> {
  return valuesWithin(words, exported.properties);
}

export function segmentFilter(words: FilterWords): Omit<Body<"createSegmentFromCampaign">, "name"> {
  return valuesWithin(words, selected.properties);
}

/** The conditions that a segment cannot have. */
export function leftOutOfSegments(words: FilterWords): readonly string[] {
  return Object.keys(words).filter((name) => !(name in selected.properties));
}

const sentences: Readonly<Record<keyof RecipientFilter, (word: string) => string>> = {
  status: (word) => word,
  email: (word) => `address ${word}`,
  opened: (word) => (word === "true" ? "opened" : "not opened"),
  clicked: (word) => (word === "true" ? "clicked" : "not clicked"),
  link: (word) => `clicked link ${Number(word) + 1}`,
  machine: (word) => (word === "true" ? "read by programs" : "not read by programs"),
  unsubscribed: (word) => (word === "true" ? "unsubscribed" : "not unsubscribed"),
  domain: (word) => `at ${word}`,
};

/** The filter as people read it: `opened, not clicked`. */
export function filterText(words: FilterWords): string {
  return Object.entries(words)
    .map(([name, word]) => sentences[name as keyof RecipientFilter](word))
    .join(", ");
}
