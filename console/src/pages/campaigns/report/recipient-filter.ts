/** The filter of the recipients, as the address has it, for the bodies of acts on them. */
import exported from "schema:CampaignRecipientExport";
import selected from "schema:CampaignSegment";
import type { Body } from "@posthaste/client";
import type { RecipientFilter } from "./recipients-link.tsx";

export type FilterWords = Readonly<Record<string, string>>;

const read = (name: string, word: string): unknown =>
  /^(true|false)$/.test(word) ? word === "true" : name === "link" ? Number(word) : word;

function within(words: FilterWords, properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(words).flatMap(([name, word]) => (name in properties ? [[name, read(name, word)]] : [])),
  );
}

export function exportFilter(words: FilterWords): NonNullable<Body<"exportCampaignRecipients">> {
  return within(words, exported.properties);
}

export function segmentFilter(words: FilterWords): Omit<Body<"createSegmentFromCampaign">, "name"> {
  return within(words, selected.properties);
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
