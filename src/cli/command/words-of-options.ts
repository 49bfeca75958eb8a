/** Sentences of the API about the form fields of an import, in the words of a command line. */

/** Replaces the names of form fields in a message by the command's options: "opt_out_column=Active" becomes "--opt-out-column Active". */
export function inOptions(sentence: string): string {
  return sentence
    .replaceAll(/\bopt_out_column=ignore\b/g, "--opt-out-column ignore")
    .replaceAll(/\bhas_header=false\b/g, "--no-header")
    .replaceAll(/\bin mapping$/g, "with --map")
    .replaceAll(/\bmapping(\[\d+\])(?:\.(?:column|field))?/g, "--map$1")
    .replaceAll(/\bmapping (?=must name|leaves)/g, "--map ")
    .replaceAll(/\bopt_out_column=(.+?)(?=, and it decides| as well$)/g, '--opt-out-column "$1"')
    .replaceAll(
      /\b(status|date_format|encoding)=(\w+)/g,
      (_, field: string, value: string) => `${optionOf(field)} ${value}`,
    )
    .replaceAll(
      /\b(?:the form field )?(opt_out_column|date_format|encoding)\b(?! of| is a guess|,)/g,
      (text, field: string) =>
        field === "encoding" && !text.startsWith("the form field") ? text : optionOf(field),
    )
    .replaceAll(
      /\b([Ss])end (the file|it) again with/g,
      (_, s: string, what: string) => `${s === "S" ? "Inspect" : "inspect"} ${what} again with`,
    )
    .replaceAll(/\bsend (?=--)/g, "give ");
}

const optionOf = (field: string) => `--${field.replaceAll("_", "-")}`;

/**
 * The sentence for `migrate-from`, which reads a folder of files: it has no option for the encoding or the columns of one of
 * them, and does not inspect.
 */
export function inOptionsOfMigration(sentence: string): string {
  const aboutFiles = sentence
    .replace(/send it again with the form field encoding$/, "save it as UTF-8")
    .replace(/, or name its encoding in the form field encoding$/, "")
    .replace(/, or send has_header=false$/, "")
    .replace(/, or name it in mapping$/, "")
    .replace(
      /name the column of the addresses.* in mapping$/,
      "put a row with the names of the columns above them",
    )
    .replace(/, or for a file import set date_format to .*$/, "");
  return inOptions(aboutFiles).replaceAll(/\b([Ii])nspect (?:the file|it) again with/g, (_, i: string) =>
    i === "I" ? "Run the command again with" : "run the command again with",
  );
}
