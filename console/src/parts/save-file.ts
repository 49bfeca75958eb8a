/** Saves a file that the page has made. */

/** Longer than a browser takes to read what it saves. */
const KEPT_MS = 10_000;

export function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
