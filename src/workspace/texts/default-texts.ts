/** The wordings of the texts that come with the service. */
import type { Language } from "#platform/languages/language.ts";
import ar from "./languages/ar.json" with { type: "json" };
import de from "./languages/de.json" with { type: "json" };
import en from "./languages/en.json" with { type: "json" };
import es from "./languages/es.json" with { type: "json" };
import fr from "./languages/fr.json" with { type: "json" };
import it from "./languages/it.json" with { type: "json" };
import ja from "./languages/ja.json" with { type: "json" };
import nl from "./languages/nl.json" with { type: "json" };
import pl from "./languages/pl.json" with { type: "json" };
import pt from "./languages/pt.json" with { type: "json" };
import tr from "./languages/tr.json" with { type: "json" };
import zh from "./languages/zh.json" with { type: "json" };
import type { TextKey } from "./text-catalogue.ts";

export const defaultTexts: Readonly<Record<Language, Readonly<Record<TextKey, string>>>> = {
  en,
  de,
  fr,
  es,
  it,
  pt,
  nl,
  pl,
  tr,
  ar,
  ja,
  zh,
};
