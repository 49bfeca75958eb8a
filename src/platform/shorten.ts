/** The beginning of a text that is too long to be shown, with an ellipsis; a character of two code units is not cut. */
export function shortenedText(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;
}
