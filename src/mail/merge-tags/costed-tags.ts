/** Tags that LiquidJS lets look at values without a filter or an operator: they pay for that, too. */
import { CaseTag, type Context, type Emitter, evalToken, ForTag, TypeGuards, toValue } from "liquidjs";

/** Elements of an array that are copied for one unit. */
const copiedElements = 4;

/** Compares as `==` does. */
export class PricedCase extends CaseTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const { lenientIf, operators } = context.opts;
    const value = toValue(yield this.value.value(context, lenientIf));
    const { renderer } = this.liquid;
    let isElse = true;
    for (const { values, templates } of this.branches) {
      for (const token of values) {
        const other = yield evalToken(token, context, lenientIf);
        if (!(yield operators["=="]?.(value, other, context))) continue;
        yield renderer.renderTemplates(templates, context, emitter);
        isElse = false;
        break;
      }
    }
    if (isElse) yield renderer.renderTemplates(this.elseTemplates, context, emitter);
  }
}

/** With `reversed` and its like it goes over a copy. */
export class PricedFor extends ForTag {
  override *render(context: Context, emitter: Emitter): ReturnType<ForTag["render"]> {
    // A range has been paid for, and would be made twice.
    if (!TypeGuards.isRangeToken(this.collection)) {
      const collection: unknown = yield evalToken(this.collection, context);
      if (Array.isArray(collection)) context.memoryLimit.use(collection.length / copiedElements);
    }
    return yield* super.render(context, emitter);
  }
}
