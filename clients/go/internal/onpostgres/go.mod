module github.com/grantd/grantd/clients/go/internal/onpostgres

go 1.24

require (
	github.com/grantd/grantd/clients/go v0.0.0
	github.com/lib/pq v1.10.9
)

replace github.com/grantd/grantd/clients/go => ../../
