/** All shortcuts that act on the open page: `?`. */
import { useState } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { keyText, shortcutsNow, useKeys } from "../parts/keys.ts";

type Listed = ReturnType<typeof shortcutsNow>;

export function ShortcutSheet() {
  const [listed, setListed] = useState<Listed>();
  useKeys({
    "?": { name: "Show the shortcuts", group: "Everywhere", run: () => setListed(shortcutsNow()) },
  });
  return (
    <Dialog title="Shortcuts" isOpen={listed !== undefined} onClose={() => setListed(undefined)} isWide>
      <div className="gap-8 sm:columns-2">
        {[...(listed ?? [])].map(([group, shortcuts]) => (
          <section key={group} className="mb-5 break-inside-avoid">
            <h3 className="mb-1 text-small font-medium text-muted">{group}</h3>
            <dl>
              {shortcuts.map(([keys, name]) => (
                <div key={keys} className="flex min-h-7 items-center gap-3">
                  <dt className="flex-1">{name}</dt>
                  <dd className="flex gap-1">
                    {keys.split(" ").map((key, index) => (
                      <kbd
                        key={`${key} ${index.toString()}`}
                        className="grid h-6 min-w-6 place-items-center rounded border border-line bg-sunken px-1.5 font-mono text-small"
                      >
                        {keyText(key)}
                      </kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
