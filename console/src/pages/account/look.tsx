/** What works at once: the theme, and the shortcuts of single keys. */
import { useState } from "react";
import { useTheme } from "../../api/theme.ts";
import { areKeysOn, switchKeys } from "../../parts/keys.ts";
import { RadioCards } from "../../parts/radio-cards.tsx";
import { Refusal } from "../../parts/refusal.tsx";
import { themes } from "../../parts/theme.ts";
import { Switch } from "../../parts/toggle.tsx";

export function Look() {
  const { theme, choose, error } = useTheme();
  const [areOn, setOn] = useState(areKeysOn);
  return (
    <div className="flex max-w-md flex-col gap-5">
      <RadioCards
        label="Theme"
        options={themes}
        value={theme}
        onChange={(id) => {
          const wanted = themes.find((one) => one.id === id);
          if (wanted) choose(wanted.id);
        }}
      />
      <Refusal error={error} />
      <div>
        <Switch
          isSelected={areOn}
          onChange={(next) => {
            switchKeys(next);
            setOn(next);
          }}
        >
          Shortcuts of single keys
        </Switch>
        <p className="mt-1 text-small text-muted">
          In this browser. Switch them off if you speak to your computer or press keys by accident. Keys with
          Ctrl or ⌘ stay.
        </p>
      </div>
    </div>
  );
}
