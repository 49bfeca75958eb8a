/** The list of a field that is found by typing. It is at the end of the page, outside of its landmarks, so it is one itself. */
import { ListBox, ListBoxItem, Popover } from "react-aria-components";
import type { Option } from "./choice.tsx";

/** Within a ComboBox. @param label that of the field */
export function Suggestions({ label }: { readonly label: string }) {
  return (
    <Popover className="max-h-80 w-(--trigger-width) min-w-64 overflow-auto rounded-panel bg-surface p-1 shadow-overlay">
      <section aria-label={`Suggestions for ${label}`}>
        <ListBox<Option>
          className="outline-none"
          renderEmptyState={() => <p className="px-3 py-2 text-muted">Nothing is found.</p>}
        >
          {({ id, name, description }) => (
            <ListBoxItem
              id={id}
              textValue={name}
              className="rounded px-3 py-1.5 outline-none data-[focused]:bg-selected"
            >
              {name}
              {description && <span className="block text-small text-muted">{description}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </section>
    </Popover>
  );
}
