/** The side bar: workspace, search, notices and jobs on top, the pages, and the person at the end. */
import { Link } from "@tanstack/react-router";
import { PanelLeft, Search } from "lucide-react";
import { Button } from "react-aria-components";
import { usePlace } from "../api/session.tsx";
import { IconButton } from "../parts/button.tsx";
import { keyText } from "../parts/keys.ts";
import { JobsTray } from "./jobs-tray.tsx";
import { PersonMenu, WorkspaceMenu } from "./menus.tsx";
import { NoticesBell } from "./notices-bell.tsx";
import { groupsFor } from "./pages.ts";

interface Props {
  readonly isFolded: boolean;
  readonly onFold: () => void;
  readonly onSearch: () => void;
}

export function SideBar({ isFolded, onFold, onSearch }: Props) {
  return (
    <aside className="sticky top-0 flex h-dvh flex-col border-r border-line bg-canvas max-[900px]:hidden">
      <div className={`flex h-12 items-center gap-1 px-3 ${isFolded ? "justify-center" : "justify-between"}`}>
        {!isFolded && <WorkspaceMenu />}
        <IconButton
          label={isFolded ? "Unfold the side bar" : "Fold the side bar"}
          hint="["
          icon={<PanelLeft size={16} aria-hidden />}
          onPress={onFold}
        />
      </div>
      <div className={`flex gap-1 px-3 pb-1 ${isFolded ? "flex-col items-center" : ""}`}>
        {isFolded ? (
          <IconButton
            label="Search"
            hint={SEARCH_KEY}
            icon={<Search size={16} aria-hidden />}
            onPress={onSearch}
          />
        ) : (
          <Button
            onPress={onSearch}
            className="flex h-8 min-w-0 flex-1 flex-wrap items-center gap-x-2 overflow-hidden rounded-control border border-line bg-surface px-2 text-muted hover:border-control hover:text-text"
          >
            <Search size={15} aria-hidden />
            <span className="leading-[30px]">Search</span>
            {/* Below the others, and so unseen, where there is no room. */}
            <kbd className="ml-auto font-mono text-small leading-[30px]">{SEARCH_KEY}</kbd>
          </Button>
        )}
        <JobsTray />
        <NoticesBell />
      </div>
      <Navigation isFolded={isFolded} />
      <div className="mt-auto border-t border-line p-2">
        <PersonMenu isFolded={isFolded} />
      </div>
    </aside>
  );
}

/** The key as it is written on the keyboard of the person. */
const SEARCH_KEY = keyText("mod+k");

export function Navigation({ isFolded = false }: { readonly isFolded?: boolean }) {
  const { workspace } = usePlace();
  return (
    <nav aria-label="Main" className="flex min-h-0 flex-col gap-4 overflow-y-auto px-2 py-2">
      {groupsFor(workspace).map(({ name, pages }) => (
        <div key={name ?? "home"}>
          {name && !isFolded && <p className="px-2 pb-1 text-small font-medium text-muted">{name}</p>}
          <ul>
            {pages.map(({ to, name: title, icon: Icon }) => (
              <li key={to}>
                <Link
                  to={`/${workspace.id}/${to}`}
                  activeOptions={{ exact: to === "", includeSearch: false }}
                  title={isFolded ? title : undefined}
                  aria-label={title}
                  className={`flex h-8 items-center gap-2.5 rounded-control px-2 text-muted max-[900px]:h-11 hover:bg-sunken hover:text-text aria-[current=page]:bg-selected aria-[current=page]:font-medium aria-[current=page]:text-text ${isFolded ? "justify-center" : ""}`}
                >
                  <Icon size={16} aria-hidden />
                  {!isFolded && title}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
