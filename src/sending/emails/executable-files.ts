/** Detects executable files by name or media type. Most receivers refuse them, because mail worms use them. */

const endings = [
  ..."ade adp apk appx appxbundle bat chm cmd com cpl dll exe hta ins isp jar js jse lib lnk mde msc msi msix".split(
    " ",
  ),
  ..."msixbundle msp mst pif ps1 reg scf scr sct shb sys vb vbe vbs vxd wsc wsf wsh".split(" "),
];
/** An ending at the end of the name, or before characters that systems or mail programs drop: blanks, dots, `:`, `;`, `"`. */
const executable = new RegExp(`\\.(?:${endings.join("|")})[\\s.]*(?:$|[:;"])`, "i");

const types = new Set(
  [
    ..."exe hta java-archive vnd.android.package-archive vnd.microsoft.portable-executable x-dosexec x-exe".split(
      " ",
    ),
    ..."x-executable x-ms-shortcut x-msdos-program x-msdownload x-msi x-winexe".split(" "),
  ].map((subtype) => `application/${subtype}`),
);

/** Invisible characters that do not change how the file opens: soft hyphens, direction marks, joiners. */
const invisible = /[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu;

/** Checks the name as people see it: without invisible characters, with full-width letters and dots normalised. */
export function isExecutableName(filename: string): boolean {
  return executable.test(filename.normalize("NFKC").replaceAll(invisible, ""));
}

/** Checks the media type itself, and a file name in its parameters. */
export function isExecutableType(contentType: string): boolean {
  const [type = "", ...parameters] = contentType.split(";");
  return types.has(type.trim().toLowerCase()) || isExecutableName(parameters.join(";"));
}
