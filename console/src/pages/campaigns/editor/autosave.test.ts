/** The rules of saving: nothing that a person wrote is lost, whatever the service answers. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Autosave, LOCAL_MS, SERVICE_MS } from "./autosave.ts";
import type { LocalCopy, SetAside, Version } from "./autosave-state.ts";

interface Draft {
  readonly subject: string;
  readonly html: string;
}

class Service {
  version: Version<Draft> = { draft: { subject: "Offers", html: "<p>" }, revision: 1 };
  local: LocalCopy<Draft> | undefined;
  aside: SetAside<Draft> | undefined;
  changes: Partial<Draft>[] = [];
  failure: unknown;

  readonly places = {
    save: async (change: Partial<Draft>, revision: number) => {
      if (this.failure !== undefined) throw this.failure;
      if (revision !== this.version.revision) throw { status: 412 };
      this.changes.push(change);
      this.write(change);
      return this.version.revision;
    },
    current: async () => this.version,
    readLocal: async () => this.local,
    writeLocal: async (copy: LocalCopy<Draft> | undefined) => {
      this.local = copy;
    },
    readAside: async () => this.aside,
    writeAside: async (aside: SetAside<Draft>) => {
      this.aside = aside;
    },
  };

  write(change: Partial<Draft>) {
    this.version = { draft: { ...this.version.draft, ...change }, revision: this.version.revision + 1 };
  }

  open() {
    return new Autosave(this.version, this.places);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

describe("Autosave", () => {
  it("writes to the device first, then the changed fields to the service", async () => {
    const service = new Service();
    const draft = service.open();
    draft.edit({ subject: "Offers for June" });
    await vi.advanceTimersByTimeAsync(LOCAL_MS);
    expect(service.local?.changed).toEqual({ subject: "Offers for June" });
    expect(service.changes).toEqual([]);
    await vi.advanceTimersByTimeAsync(SERVICE_MS);
    expect(service.changes).toEqual([{ subject: "Offers for June" }]);
    expect(service.local).toBeUndefined();
    expect(draft.state()).toMatchObject({ status: "saved", revision: 2 });
  });

  it("saves now and then while somebody types without a pause", async () => {
    const service = new Service();
    const draft = service.open();
    for (let key = 0; key < 30; key++) {
      draft.edit({ html: `<p>${"a".repeat(key)}` });
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(service.changes.length).toBeGreaterThan(0);
  });

  it("keeps everything on the device while the service does not answer, and sends it afterwards", async () => {
    const service = new Service();
    const draft = service.open();
    service.failure = new Error("no connection");
    draft.edit({ html: "<p>one" });
    await vi.advanceTimersByTimeAsync(SERVICE_MS);
    expect(draft.state().status).toBe("unreachable");
    expect(service.local?.changed).toEqual({ html: "<p>one" });
    draft.edit({ html: "<p>one two" });
    await vi.advanceTimersByTimeAsync(60_000);
    service.failure = undefined;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(service.version.draft.html).toBe("<p>one two");
    expect(draft.state().status).toBe("saved");
  });

  it("takes another person's fields over where they are others", async () => {
    const service = new Service();
    const draft = service.open();
    service.write({ subject: "Theirs" });
    draft.edit({ html: "<p>mine" });
    await vi.advanceTimersByTimeAsync(SERVICE_MS);
    expect(service.version.draft).toEqual({ subject: "Theirs", html: "<p>mine" });
    expect(draft.state()).toMatchObject({
      status: "saved",
      adopted: ["subject"],
      draft: service.version.draft,
    });
  });

  it("asks when both changed the same field, and sets the version not taken aside", async () => {
    const service = new Service();
    const draft = service.open();
    service.write({ html: "<p>theirs" });
    draft.edit({ html: "<p>mine" });
    await vi.advanceTimersByTimeAsync(SERVICE_MS);
    expect(draft.state()).toMatchObject({ status: "conflict", conflict: { names: ["html"] } });
    draft.edit({ html: "<p>mine, more" });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(service.version.draft.html).toBe("<p>theirs");
    expect(service.local?.changed).toEqual({ html: "<p>mine, more" });
    await draft.resolve({ html: "mine" });
    expect(service.version.draft.html).toBe("<p>mine, more");
    expect(service.aside?.changed).toEqual({ html: "<p>theirs" });
    await draft.restoreAside();
    expect(draft.state().draft.html).toBe("<p>theirs");
    expect(service.aside?.changed).toEqual({ html: "<p>mine, more" });
  });

  it("finds its own change when the answer to it was lost", async () => {
    const service = new Service();
    const draft = service.open();
    draft.edit({ html: "<p>mine" });
    service.write({ html: "<p>mine" });
    await vi.advanceTimersByTimeAsync(SERVICE_MS);
    expect(draft.state()).toMatchObject({ status: "saved", revision: 2, conflict: undefined });
  });

  it("saves the other fields beside a refused one, and sends that again once it changes", async () => {
    const service = new Service();
    const draft = service.open();
    const save = service.places.save;
    service.places.save = async (change, revision) => {
      if (change.subject === "")
        throw { status: 400, details: [{ field: "subject", message: "is required" }] };
      return save(change, revision);
    };
    draft.edit({ subject: "", html: "<p>mine" });
    await vi.advanceTimersByTimeAsync(SERVICE_MS);
    expect(service.changes).toEqual([{ html: "<p>mine" }]);
    expect(draft.state().status).toBe("refused");
    expect(service.local?.changed).toEqual({ subject: "" });
    draft.edit({ subject: "Offers again" });
    await vi.advanceTimersByTimeAsync(SERVICE_MS);
    expect(service.version.draft.subject).toBe("Offers again");
    expect(draft.state()).toMatchObject({ status: "saved", error: undefined });
  });

  it("stops when the campaign is no draft any more, and keeps what was written", async () => {
    const service = new Service();
    const draft = service.open();
    service.failure = { status: 409 };
    draft.edit({ html: "<p>late" });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(draft.state().status).toBe("closed");
    expect(service.local?.changed).toEqual({ html: "<p>late" });
  });

  it("offers what an earlier visit left on the device", async () => {
    const service = new Service();
    service.local = { at: 1, changed: { html: "<p>lost" }, base: { html: "<p>" } };
    const draft = service.open();
    await draft.open();
    expect(draft.state().found?.changed).toEqual({ html: "<p>lost" });
    draft.takeFound();
    await vi.advanceTimersByTimeAsync(SERVICE_MS);
    expect(service.version.draft.html).toBe("<p>lost");
  });

  it("sets aside what an earlier visit left when the saved version is wanted", async () => {
    const service = new Service();
    service.local = { at: 1, changed: { html: "<p>lost" }, base: { html: "<p>" } };
    const draft = service.open();
    await draft.open();
    await draft.leaveFound();
    expect(service).toMatchObject({ local: undefined, aside: { changed: { html: "<p>lost" } } });
  });

  it("asks when the service has a newer version of what an earlier visit left", async () => {
    const service = new Service();
    service.local = { at: 1, changed: { html: "<p>lost" }, base: { html: "<p>older" } };
    const draft = service.open();
    await draft.open();
    draft.takeFound();
    expect(draft.state()).toMatchObject({ status: "conflict", draft: { html: "<p>lost" } });
  });
});
