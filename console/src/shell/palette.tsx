/** Search over everything, and the way to every page: ⌘K. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useState } from "react";
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from "react-aria-components";
import { usePlace } from "../api/session.tsx";
import { useKeys } from "../parts/keys.ts";

interface Target {
  readonly id: string;
  readonly title: string;
  readonly subtitle: string;
  readonly to: string;
}

export function Palette({ pages }: { readonly pages: readonly Target[] }) {
  const [isOpen, setOpen] = useState(false);
  const [words, setWords] = useState("");
  const { api, workspace } = usePlace();
  const navigate = useNavigate();
  useKeys({ "mod+k": () => setOpen(true) });
  const { data } = useQuery({
    queryKey: ["search", workspace.id, words],
    queryFn: ({ signal }) => api.searchEverything({ query: { q: words }, signal }),
    enabled: words.trim().length > 1,
    placeholderData: (former) => former,
  });
  const found =
    words.trim().length > 1 ? (data?.results ?? []).map((one) => targetOf(workspace.id, one)) : [];
  const near = pages.filter(({ title }) => title.toLowerCase().includes(words.trim().toLowerCase()));
  const close = () => {
    setOpen(false);
    setWords("");
  };
  const go = (id: string | number) => {
    const target = [...near, ...found].find((one) => one.id === id);
    if (!target) return;
    close();
    void navigate({ to: target.to });
  };
  return (
    <ModalOverlay
      isDismissable
      isOpen={isOpen}
      onOpenChange={(open) => !open && close()}
      className="fixed inset-0 z-50 flex justify-center bg-black/40 p-4 pt-[12vh]"
    >
      <Modal className="h-fit w-full max-w-xl overflow-hidden rounded-panel bg-surface shadow-overlay">
        <Dialog aria-label="Search everything" className="outline-none">
          <Autocomplete inputValue={words} onInputChange={setWords}>
            <SearchField
              aria-label="Search everything"
              autoFocus
              className="flex h-12 items-center gap-3 border-b border-line px-4"
            >
              <Search size={16} aria-hidden className="text-muted" />
              <Input
                placeholder="A page, a person, a campaign, a message id …"
                className="flex-1 bg-transparent outline-none placeholder:text-muted"
              />
            </SearchField>
            <Menu
              onAction={go}
              className="max-h-96 overflow-auto p-1 outline-none"
              renderEmptyState={() => <p className="p-4 text-muted">Nothing is found.</p>}
            >
              {near.length > 0 && <Group name="Pages" targets={near} />}
              {found.length > 0 && <Group name="Found" targets={found} />}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Group({ name, targets }: { readonly name: string; readonly targets: readonly Target[] }) {
  return (
    <MenuSection>
      <Header className="px-3 pt-2 pb-1 text-small text-muted">{name}</Header>
      {targets.map(({ id, title, subtitle }) => (
        <MenuItem
          key={id}
          id={id}
          textValue={title}
          className="flex h-9 items-center gap-3 rounded px-3 outline-none data-[focused]:bg-selected"
        >
          <span className="truncate">{title}</span>
          <span className="ml-auto truncate text-small text-muted">{subtitle}</span>
        </MenuItem>
      ))}
    </MenuSection>
  );
}

interface Found {
  readonly kind: string;
  readonly id: string;
  readonly title: string;
  readonly subtitle: string | null;
}

const folders: Readonly<Record<string, string>> = {
  message: "messages",
  subscriber: "people",
  campaign: "campaigns",
  mailing_list: "lists",
  segment: "segments",
  sending_domain: "domains",
};

function targetOf(workspaceId: string, { kind, id, title, subtitle }: Found): Target {
  const folder = folders[kind];
  return {
    id: `${kind} ${id}`,
    title,
    subtitle: [kind.replaceAll("_", " "), subtitle].filter(Boolean).join(" · "),
    to: folder
      ? `/${workspaceId}/${folder}/${id}`
      : `/${workspaceId}/${kind === "api_key" ? "api-keys" : ""}`,
  };
}
