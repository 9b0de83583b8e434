package io.github.grantd.examples;

import io.github.grantd.Grantd;
import io.github.grantd.ObjectsQuery;

public class Start {
    public static void main(String[] args) {
        Grantd grantd = Grantd.fromEnvironment();
        grantd.createGrant("user:ada", "viewer", "document:plan");
        boolean allowed = grantd.check("user:ada", "viewer", "document:plan");
        System.out.println(allowed);
        for (String object : grantd.listObjects(ObjectsQuery.of("user:ada", "viewer"))) {
            System.out.println(object);
        }
    }
}
