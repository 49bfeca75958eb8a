/** Views of one thing. The chosen one is part of the address, so that a link opens it. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from "react-aria-components";

interface View {
  readonly id: string;
  readonly name: ReactNode;
  readonly content: () => ReactNode;
}

export function Tabs({ label, views }: { readonly label: string; readonly views: readonly View[] }) {
  const search = useSearch({ strict: false }) as { readonly tab?: string };
  const navigate = useNavigate();
  const chosen = views.find(({ id }) => id === search.tab) ?? views[0];
  if (!chosen) return null;
  return (
    <AriaTabs
      selectedKey={chosen.id}
      onSelectionChange={(id) =>
        void navigate({
          to: ".",
          search: { ...search, tab: id === views[0]?.id ? undefined : id } as never,
          replace: true,
        })
      }
      className="outline-none"
    >
      <TabList aria-label={label} className="flex gap-5 overflow-x-auto border-b border-line">
        {views.map(({ id, name }) => (
          <Tab
            key={id}
            id={id}
            className="-mb-px cursor-default border-b-2 border-transparent px-0.5 py-2 whitespace-nowrap text-muted hover:text-text data-[selected]:border-accent data-[selected]:font-medium data-[selected]:text-text"
          >
            {name}
          </Tab>
        ))}
      </TabList>
      <TabPanel key={chosen.id} id={chosen.id} className="pt-4">
        {chosen.content()}
      </TabPanel>
    </AriaTabs>
  );
}
