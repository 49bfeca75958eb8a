/** Search over everything, the way to every page and to every form: ⌘K. An id or address that is found alone is opened at once. */

import parameters from "operation:searchEverything";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { type ClipboardEvent, useState } from "react";
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
import { Failure } from "../parts/failure.tsx";
import { groupsFor, makesFor } from "./pages.ts";
import { placeOfResult } from "./places.ts";

interface Target {
  readonly id: string;
  readonly title: string;
  readonly subtitle: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, unknown>>;
}

/** One letter finds too much. */
const LEAST_LETTERS = 2;
const LONGEST = parameters.find(({ name }) => name === "q")?.maxLength;

export function Palette({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  return (
    <ModalOverlay
      isDismissable
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      className="fixed inset-0 z-50 flex justify-center bg-black/40 p-4 pt-[12vh]"
    >
      <Modal className="h-fit w-full max-w-xl overflow-hidden rounded-panel bg-surface shadow-overlay">
        <Dialog aria-label="Search everything" className="outline-none">
          {/* A first Escape would clear the field only. */}
          <div
            onKeyDownCapture={(event) => {
              if (event.key !== "Escape") return;
              event.stopPropagation();
              onClose();
            }}
          >
            <Finder onClose={onClose} />
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Finder({ onClose }: { readonly onClose: () => void }) {
  const [words, setWords] = useState("");
  const navigate = useNavigate();
  const { search, found, isSearching, error } = useFound(words);
  const { pages, acts } = useOwnTargets(words);
  const open = ({ to, search: parameters }: Target) => {
    onClose();
    void navigate({ to, ...(parameters && { search: parameters as never }) });
  };
  const onPaste = async (event: ClipboardEvent) => {
    const pasted = event.clipboardData.getData("text").trim();
    if (words !== "" || !isWhole(pasted)) return;
    // The field has the text, too, and its own search says why it fails.
    const results = await search(pasted).catch(() => []);
    const [target, ...others] = results.filter(({ isExact }) => isExact);
    if (target && others.length === 0) open(target);
  };
  return (
    <Autocomplete inputValue={words} onInputChange={setWords}>
      <SearchField
        aria-label="Search everything"
        autoFocus
        className="flex h-12 items-center gap-3 border-b border-line px-4"
      >
        <Search size={16} aria-hidden className="text-muted" />
        <Input
          placeholder="A page, a person, a campaign, a message id …"
          maxLength={LONGEST}
          onPaste={(event) => void onPaste(event)}
          className="min-w-0 flex-1 bg-transparent outline-none placeholder:text-muted [&::-webkit-search-cancel-button]:hidden"
        />
      </SearchField>
      {error && <Failure error={error} />}
      <Menu
        aria-label="Results"
        onAction={(id) => {
          const target = [...found, ...pages, ...acts].find((one) => one.id === id);
          if (target) open(target);
        }}
        className="max-h-[min(24rem,60dvh)] overflow-auto p-1 outline-none"
        renderEmptyState={() => (
          <p className="p-4 text-muted">
            {isSearching ? "Searching …" : error ? "" : `Nothing is called “${words}”.`}
          </p>
        )}
      >
        {found.length > 0 && <Group name="Found" targets={found} />}
        {pages.length > 0 && <Group name="Pages" targets={pages} />}
        {acts.length > 0 && <Group name="Acts" targets={acts} />}
      </Menu>
    </Autocomplete>
  );
}

function useFound(words: string) {
  const { api, workspace } = usePlace();
  const text = words.trim();
  const load = async (q: string, signal?: AbortSignal) => {
    const { results } = await api.searchEverything({ query: { q }, ...(signal && { signal }) });
    return results.flatMap((result) => {
      const place = placeOfResult(result);
      if (place === undefined) return [];
      const { kind, id, title, subtitle, is_exact } = result;
      return [
        {
          id: `${kind} ${id}`,
          title: title || "No subject",
          subtitle: [kind.replaceAll("_", " "), subtitle].filter(Boolean).join(" · "),
          to: `/${workspace.id}/${place}`,
          isExact: is_exact,
        },
      ];
    });
  };
  const { data, isFetching, error } = useQuery({
    queryKey: ["search", workspace.id, text],
    queryFn: ({ signal }) => load(text, signal),
    enabled: text.length >= LEAST_LETTERS,
    placeholderData: keepPreviousData,
  });
  return {
    search: load,
    found: text.length >= LEAST_LETTERS ? (data ?? []) : [],
    isSearching: isFetching,
    error,
  };
}

/** The pages and the forms whose name has the words. */
function useOwnTargets(words: string) {
  const { workspace } = usePlace();
  const isNear = ({ title }: Target) => title.toLowerCase().includes(words.trim().toLowerCase());
  const pages = groupsFor(workspace)
    .flatMap((group) => group.pages)
    .map(({ to, name, key }) => ({
      id: `page ${to}`,
      title: name,
      subtitle: key ? `g ${key}` : "",
      to: `/${workspace.id}/${to}`,
    }));
  const account = { id: "page account", title: "Account", subtitle: "", to: `/${workspace.id}/account` };
  const acts = makesFor(workspace).map(({ name, to, key }) => ({
    id: `act ${to}`,
    title: name,
    subtitle: `n ${key}`,
    to: `/${workspace.id}/${to}`,
    search: { new: true },
  }));
  return { pages: [...pages, account].filter(isNear), acts: acts.filter(isNear) };
}

/** An id or an address, which names one thing. */
function isWhole(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) || /^\S+@\S+$/.test(text);
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
          <span className="min-w-0 truncate">{title}</span>
          <span className="ml-auto max-w-[55%] truncate text-small text-muted">{subtitle}</span>
        </MenuItem>
      ))}
    </MenuSection>
  );
}
