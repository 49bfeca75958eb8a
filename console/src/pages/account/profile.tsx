/** Name, language and time zone. */

import schema from "schema:PersonChanges";
import type { Body } from "@posthaste/client";
import { useState } from "react";
import { useAct } from "../../api/act.ts";
import { apiOf } from "../../api/client.ts";
import { usePlace } from "../../api/session.tsx";
import { ActForm } from "../../parts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/field.tsx";
import { Refusal } from "../../parts/refusal.tsx";
import { browserZone } from "../../parts/time.tsx";
import { Checkbox } from "../../parts/toggle.tsx";
import { ZonePicker } from "../../parts/zone-picker.tsx";

const AS_BROWSER = "browser";

export function Profile() {
  const { person } = usePlace().session;
  const [name, setName] = useState(person.name);
  const [language, setLanguage] = useState(person.language);
  const [timezone, setTimezone] = useState(person.timezone);
  const save = useAct({
    run: (body: Body<"updateMe">) => apiOf(undefined).updateMe({ body }),
    changes: ["session"],
    done: "Your profile is saved",
  });
  return (
    <ActForm
      act={save}
      className="flex max-w-md flex-col gap-4"
      onSubmit={() => {
        save.mutate({ name, language, timezone });
      }}
    >
      <Field
        name="name"
        label="Name"
        hint="Your teammates see it."
        autoComplete="name"
        maxLength={schema.properties.name?.maxLength ?? 0}
        value={name}
        onChange={setName}
        isRequired
      />
      <Choice
        label="Language of the service's texts"
        options={[{ id: AS_BROWSER, name: "As the browser" }, ...languages(person.language)]}
        value={language ?? AS_BROWSER}
        onChange={(tag) => setLanguage(tag === AS_BROWSER ? null : String(tag))}
      />
      <Checkbox
        isSelected={timezone === null}
        onChange={(isOfBrowser) => setTimezone(isOfBrowser ? null : browserZone)}
      >
        Show times in the zone of the browser, now {browserZone}
      </Checkbox>
      {timezone !== null && <ZonePicker label="Time zone" value={timezone} onChange={setTimezone} />}
      <Refusal error={save.error} />
      <div>
        <Button type="submit" kind="primary" isPending={save.isPending}>
          Save the profile
        </Button>
      </div>
    </ActForm>
  );
}

/** Those of the browser, and the one that is set. */
function languages(present: string | null) {
  const names = new Intl.DisplayNames("en", { type: "language" });
  const tags = new Set([...(present === null ? [] : [present]), ...navigator.languages]);
  return [...tags].map((id) => ({ id, name: names.of(id) ?? id }));
}
