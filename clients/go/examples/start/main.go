// The program with which the README of the client begins.
package main

import (
	"context"
	"fmt"
	"log"

	grantd "github.com/grantd/grantd/clients/go"
)

func main() {
	ctx := context.Background()
	client, err := grantd.New(grantd.Config{})
	if err != nil {
		log.Fatal(err)
	}
	ada := grantd.GrantRequest{Subject: "user:ada", Relation: "viewer", Object: "document:plan"}
	if _, err := client.CreateGrant(ctx, ada); err != nil {
		log.Fatal(err)
	}
	allowed, err := client.Check(ctx, "user:ada", "viewer", "document:plan")
	fmt.Println(allowed, err)
	for object, err := range client.ListObjects(ctx, grantd.ObjectsQuery{Subject: "user:ada", Relation: "viewer"}) {
		fmt.Println(object, err)
	}
}
