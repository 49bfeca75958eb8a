/** Compiles MJML and designs in a thread, so that a large one delays no other request. */
import { createWorkspaceLimiter } from "#platform/concurrency.ts";
import { ApiError, type FieldFault, invalid, overloaded } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  createWorkerThread,
  type WorkerThread,
  type WorkerThreadLimits,
} from "#platform/process/worker-thread.ts";
import type { DesignBrand } from "#sending/designs/design.ts";
import type { CheckedTemplate, TemplateToCheck } from "./check-template.ts";
import type { CompiledSource } from "./compile-source.ts";
import type { ContentSource } from "./content-source.ts";

/** A body to compile, or a template to compile and try. */
export type CompileQuestion = { readonly brand: DesignBrand } & (
  | { readonly source: ContentSource; readonly template?: undefined }
  | { readonly template: TemplateToCheck }
);
export type CompileAnswer = CompiledSource | { readonly checked: CheckedTemplate };

/** The longest MJML takes a second or two, and several times that on a busy machine. */
const LIMITS: WorkerThreadLimits = { deadlineMs: 20_000, heapMb: 512 };

/** One compilation of a workspace at a time. */
const BOUNDS = { concurrency: 1, maxWaiting: 20, maxWaitMs: 10_000 };

export class ContentCompiler {
  readonly #thread: WorkerThread<CompileQuestion, CompileAnswer>;
  readonly #brandOf: (workspaceId: WorkspaceId) => Promise<DesignBrand>;
  readonly #takeTurn = createWorkspaceLimiter(
    BOUNDS,
    "Too much content of this workspace is being compiled: send fewer requests at a time",
  );

  /** @param brandOf what designs show of a workspace */
  constructor(brandOf: (workspaceId: WorkspaceId) => Promise<DesignBrand>) {
    this.#brandOf = brandOf;
    this.#thread = createWorkerThread(new URL("compile-thread.ts", import.meta.url), LIMITS);
  }

  /** The HTML of MJML or of a design. @throws ApiError VALIDATION_ERROR, and those of #ask */
  async compile(workspaceId: WorkspaceId, source: ContentSource): Promise<string> {
    const answer = await this.#ask(workspaceId, { source, brand: await this.#brandOf(workspaceId) });
    if ("checked" in answer) throw new Error("the thread answered another question");
    if (!answer.ok) throw refusal(answer.faults);
    return answer.html;
  }

  /**
   * Templates with their HTML, in order; other workspaces have their turns between them. @throws ApiError VALIDATION_ERROR with the faults of the first that has any, and
   * those of #ask
   * @param explain the fault as one of the template at this place; by default as it is
   */
  async check(
    workspaceId: WorkspaceId,
    templates: readonly TemplateToCheck[],
    explain = (fault: FieldFault, _place: number): FieldFault => fault,
  ): Promise<Extract<CheckedTemplate, { ok: true }>[]> {
    const brand = await this.#brandOf(workspaceId);
    const compiled: Extract<CheckedTemplate, { ok: true }>[] = [];
    for (const [place, template] of templates.entries()) {
      const answer = await this.#ask(workspaceId, { template, brand });
      if (!("checked" in answer)) throw new Error("the thread answered another question");
      const { checked } = answer;
      if (!checked.ok) throw refusal(checked.faults.map((fault) => explain(fault, place)));
      compiled.push(checked);
    }
    return compiled;
  }

  /** @throws ApiError RATE_LIMIT_EXCEEDED, BAD_REQUEST for content that takes too much memory, SERVICE_UNAVAILABLE for one that takes too long */
  #ask(workspaceId: WorkspaceId, question: CompileQuestion): Promise<CompileAnswer> {
    return this.#takeTurn(workspaceId, async () => {
      const answer = await this.#thread.ask(question);
      if (answer.ok) return answer.answer;
      if (answer.reason === "too_slow")
        throw overloaded("The content could not be compiled in time: shorten it, or try again");
      throw new ApiError("BAD_REQUEST", "The content takes too much memory to be compiled: shorten it");
    });
  }
}

function refusal([first, ...rest]: readonly FieldFault[]): ApiError {
  return first === undefined ? new ApiError("VALIDATION_ERROR") : invalid(first, ...rest);
}
