/** What all pages share: navigation by job, the workspace, search, notices, jobs, and the keys that act everywhere. */
import { Outlet, useMatches, useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { usePlace } from "../api/session.tsx";
import { useKeys } from "../parts/keys.ts";
import { UndoBar } from "../parts/undo.tsx";
import { Bands } from "./bands.tsx";
import { CallsSheet } from "./calls-sheet.tsx";
import { useKeptFocus } from "./kept-focus.ts";
import { NoRight } from "./missing-pages.tsx";
import { SideBar } from "./navigation.tsx";
import { usePageHeading } from "./page-heading.ts";
import { closedPage, groupsFor, makesFor } from "./pages.ts";
import { Palette } from "./palette.tsx";
import { ShortcutSheet } from "./shortcut-sheet.tsx";
import { TopBar } from "./top-bar.tsx";

export function Shell() {
  const { workspace } = usePlace();
  const [isFolded, setFolded] = useState(() => localStorage.getItem("side-bar") === "folded");
  const [isSearching, setSearching] = useState(false);
  const page = useRef<HTMLElement>(null);
  // Of the page that is shown: the address is that of the next one while that loads.
  const shown = useMatches({ select: (matches) => matches.at(-1)?.pathname ?? "" });
  const fold = () => {
    localStorage.setItem("side-bar", isFolded ? "open" : "folded");
    setFolded(!isFolded);
  };
  usePageHeading(page, workspace.name);
  useKeptFocus();
  useShellKeys(fold, () => setSearching(true));
  const closed = closedPage(workspace, shown.split("/").slice(2).join("/"));
  return (
    <div
      className={`grid min-h-dvh grid-cols-[minmax(0,1fr)] ${isFolded ? "min-[901px]:grid-cols-[56px_minmax(0,1fr)]" : "min-[901px]:grid-cols-[224px_minmax(0,1fr)]"}`}
    >
      <a
        href="#page"
        className="absolute -top-20 left-2 z-50 rounded-control bg-accent px-3 py-1 text-on-accent focus:top-2"
      >
        Skip to the page
      </a>
      <SideBar isFolded={isFolded} onFold={fold} onSearch={() => setSearching(true)} />
      <div className="flex h-dvh min-w-0 flex-col bg-surface">
        <TopBar onSearch={() => setSearching(true)} />
        <Bands />
        <main
          ref={page}
          id="page"
          tabIndex={-1}
          className="relative min-h-0 flex-1 overflow-auto outline-none"
        >
          {closed ? <NoRight page={closed} /> : <Outlet />}
        </main>
      </div>
      <UndoBar />
      <Palette isOpen={isSearching} onClose={() => setSearching(false)} />
      <ShortcutSheet />
      <CallsSheet />
    </div>
  );
}

/** The side bar, the search, `g` and a letter to go to a page, `n` and a letter to make something. */
function useShellKeys(fold: () => void, search: () => void) {
  const { workspace } = usePlace();
  const navigate = useNavigate();
  const goes = groupsFor(workspace)
    .flatMap(({ pages }) => pages)
    .flatMap(({ key, name, to }) =>
      key
        ? [[`g ${key}`, { name, group: "Go to", run: () => navigate({ to: `/${workspace.id}/${to}` }) }]]
        : [],
    );
  const makes = makesFor(workspace).map(({ key, name, to }) => [
    `n ${key}`,
    {
      name,
      group: "Make",
      run: () => navigate({ to: `/${workspace.id}/${to}`, search: { new: true } as never }),
    },
  ]);
  useKeys({
    "mod+k": { name: "Search everything", group: "Everywhere", run: search },
    "[": { name: "Fold the side bar", group: "Everywhere", run: fold },
    ...Object.fromEntries([...goes, ...makes]),
  });
}
