/** Which files are programs, by what they are called: what mail systems refuse anyway, and what carries most mail worms. */

const endings = [
  ..."ade adp apk appx appxbundle bat chm cmd com cpl dll exe hta ins isp jar js jse lib lnk mde msc msi msix".split(
    " ",
  ),
  ..."msixbundle msp mst pif ps1 reg scf scr sct shb sys vb vbe vbs vxd wsc wsf wsh".split(" "),
];
/** At the end, or before what a system cuts off or a mail program mends: blanks and dots, a stream, a parameter, a quote. */
const executable = new RegExp(`\\.(?:${endings.join("|")})[\\s.]*(?:$|[:;"])`, "i");

const types = new Set(
  [
    ..."exe hta java-archive vnd.android.package-archive vnd.microsoft.portable-executable x-dosexec x-exe".split(
      " ",
    ),
    ..."x-executable x-ms-shortcut x-msdos-program x-msdownload x-msi x-winexe".split(" "),
  ].map((subtype) => `application/${subtype}`),
);

/** What is not to be seen, and changes nothing for whoever opens the file: soft hyphens, marks of direction, joiners. */
const invisible = /[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu;

/** Looks at the name as people see it: without what is invisible, and with the wide letters and dots of Unicode made plain. */
export function isExecutableName(filename: string): boolean {
  return executable.test(filename.normalize("NFKC").replaceAll(invisible, ""));
}

/** By the type itself, or by a name that it gives the file. */
export function isExecutableType(contentType: string): boolean {
  const [type = "", ...parameters] = contentType.split(";");
  return types.has(type.trim().toLowerCase()) || isExecutableName(parameters.join(";"));
}
