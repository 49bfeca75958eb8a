/** The footer of a workspace's mail, in the languages of its recipients. */
import { type LanguageSource, languageFields } from "#audience/languages/recipient-language.ts";
import { findLanguageSettings } from "#audience/languages/store.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { directionOf, htmlTagOf, type Language, languages } from "#platform/languages/language.ts";
import { type BrandSettings, noBrand } from "#workspace/brand/brand.ts";
import { findBrand } from "#workspace/brand/store.ts";
import { listReplacedWordings } from "#workspace/texts/store.ts";
import { Texts } from "#workspace/texts/texts.ts";
import type { Footer, FooterWords } from "./unsubscribe-footer.ts";

/**
 * Three statements for a content, however many recipients it has.
 * @param listId the list that the mail goes to; null for none
 * @param defined names of the custom fields that recipients may have
 */
export async function loadFooter(
  db: Queryable,
  workspaceId: WorkspaceId,
  listId: string | null,
  defined: ReadonlySet<string>,
): Promise<Footer> {
  const { language, language_field } = await findLanguageSettings(db, workspaceId, listId);
  const replaced = await listReplacedWordings(db, workspaceId, ["footer_link", "footer_text_link"]);
  const brand = await findBrand(db, workspaceId);
  const textsOf = (one: Language) => {
    const own = replaced.filter((row) => row.language === one);
    return new Texts(one, Object.fromEntries(own.map(({ key, text }) => [key, text])));
  };
  return footerOf({ language, fields: languageFields(language_field, defined) }, textsOf, brand);
}

/** @param textsOf the texts of a language in the words of the workspace */
export function footerOf(
  source: LanguageSource,
  textsOf: (language: Language) => Texts = (language) => new Texts(language),
  { footer_text, postal_address }: Pick<BrandSettings, "footer_text" | "postal_address"> = noBrand,
): Footer {
  const lines = [footer_text, postal_address].filter((text) => text !== null);
  const wordsOf = (language: Language) => footerWords(textsOf(language));
  const wordsByLanguage = () =>
    Object.fromEntries(languages.map((language) => [language, wordsOf(language)])) as Record<
      Language,
      FooterWords
    >;
  return {
    words: wordsOf(source.language),
    personal: source.fields.length === 0 ? null : { ...source, words: wordsByLanguage() },
    senderLines: lines.length === 0 ? null : lines.join("\n"),
  };
}

/** Stands for the link while the text is divided; no text contains it, because texts have no control characters. */
const LINK = "\u0000";

function footerWords(texts: Texts): FooterWords {
  const [before = "", after = ""] = texts.say("footer_text_link", { link: LINK }).split(LINK);
  return {
    tag: htmlTagOf(texts.language),
    direction: directionOf(texts.language),
    link: texts.say("footer_link"),
    before,
    after,
  };
}
