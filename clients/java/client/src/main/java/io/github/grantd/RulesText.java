package io.github.grantd;

/**
 * The rules of the tenant in the text form, and their revision.
 *
 * @param text as it was set, with its comments, or printed from JSON
 * @param revision names the rules; the same rules have the same one
 */
public record RulesText(String text, String revision) {
    static RulesText of(Request.Response got) {
        return new RulesText(Fields.text(got.value()), Rules.revisionOf(got));
    }
}
