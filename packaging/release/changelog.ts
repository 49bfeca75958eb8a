/** CHANGELOG.md, in the form of Keep a Changelog: a section for each version, headed `## [0.2.0] - 2026-11-30`. */

/** The text of the version's section, without its heading; undefined if there is none. */
export function notesOf(changelog: string, version: string): string | undefined {
  const section = changelog
    .split(/^(?=## )/m)
    .find((one) => one.startsWith(`## [${version}] - `) && /^## \[[^\]]+\] - \d{4}-\d\d-\d\d\n/.test(one));
  return section?.slice(section.indexOf("\n") + 1).trim();
}
