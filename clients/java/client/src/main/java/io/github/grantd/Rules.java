package io.github.grantd;

/**
 * The rules of the tenant, and their revision for the next change.
 *
 * @param ruleSet the rules
 * @param revision names them; the same rules have the same one
 */
public record Rules(RuleSet ruleSet, String revision) {
    /**
     * The same rules, to be changed and written.
     *
     * @return the request
     */
    public RuleSetRequest toRequest() {
        return new RuleSetRequest(
            ruleSet.relations(), ruleSet.states(), ruleSet.conditions(), ruleSet.types(), ruleSet.rules(),
            ruleSet.groups(), ruleSet.publicNamespaces(), null);
    }

    static Rules of(Request.Response got) {
        return new Rules(RuleSet.decode(got.value()), revisionOf(got));
    }

    static String revisionOf(Request.Response got) {
        String tag = got.headers().firstValue("ETag").orElse("");
        if (!tag.matches("\"[^\"]+\"")) throw new Fields.UnexpectedException("it has no ETag with a revision");
        return tag.substring(1, tag.length() - 1);
    }
}
