/** Yes and no as people, spreadsheets and other programs write them, in the languages of Europe and East Asia. */

const words = (text: string) => text.trim().split(/\s+/).map(foldedWord);

const yes = new Set(
  words(`
    yes y true t 1 1.0 1,0 -1 on x ✓ ✔ ☑ √ ✅ checked enabled
    ja j wahr oui o vrai si s verdadero sim verdadeiro vero waar sant tak prawda да д истина так ano pravda igen igaz
    da adevarat evet doğru kylla tosi jah ναι αληθης نعم כן はい ○ ◯ 是 예 네 ใช่`),
);
const no = new Set(
  words(`
    no n false f 0 0.0 0,0 off ✗ ✘ ✖ ❌ ☐ × unchecked disabled
    nein falsch non faux falso nao nee onwaar nej nei falskt falsk nie fałsz нет н ложь ні не ne nepravda nem hamis
    nu fals hayır yanlış ei epatosi οχι ψευδης لا לא いいえ 否 不是 아니오 아니요 ไม่ ไม่ใช่`),
);

/** Includes surrounding blanks. */
const LONGEST = 1_000;

/** Undefined for a text that means neither. */
export function readYesNo(text: string): boolean | undefined {
  if (text.length > LONGEST) return undefined;
  const word = foldedWord(text);
  return yes.has(word) ? true : no.has(word) ? false : undefined;
}

/** In lower case, without accents and surrounding blanks. */
function foldedWord(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").normalize("NFC").toLowerCase().trim();
}
