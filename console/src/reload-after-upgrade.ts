/** A tab that was opened before an upgrade asks for parts of the console that are gone: it loads the new one. */

const KEY = "reloaded for an upgrade";
/** A part that is missing in the new console, too, is reported and not reloaded for again. */
const AGAIN_MS = 60_000;

/** Reloads the page. Drafts of campaigns are kept; what was typed into an open dialog is lost. */
export function reloadAfterUpgrade(): void {
  window.addEventListener("vite:preloadError", (event) => {
    const last = Number(sessionStorage.getItem(KEY) ?? 0);
    if (Date.now() - last < AGAIN_MS) return;
    sessionStorage.setItem(KEY, String(Date.now()));
    event.preventDefault();
    location.reload();
  });
}
